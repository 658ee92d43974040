package preview

import (
	"context"
	"errors"
	"image"
	"io/fs"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/wkwfs/wkwfs/internal/serve/render"
	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/volume"
)

// Options say what to draw.
type Options struct {
	Canvas
	Mag  string // name of a mag; empty: the coarsest mag that fills the canvas
	Z    *int   // a voxel of mag 1 in the plane; nil: the middle plane
	Jobs int    // cubes that are read at once; at least 1
}

// Picture is a picture of a plane.
type Picture struct {
	Image  *image.NRGBA // opaque
	Mag    Mag
	Plane  volume.Box     // the whole plane, in voxels of the mag
	Drawn  volume.Box     // the part of it that the picture shows
	Window *render.Window // of grey values; nil of other kinds
	Zero   bool           // the picture shows no other value than 0

	Blocks  int     // in the part that is drawn, without those of absent cubes
	Damaged int     // of these
	Faults  []error // of the first of these, each with another text
}

// maxFaults is the number of Faults.
const maxFaults = 3

// Draw draws a plane of a layer. Mags are finest first, at least one. Blocks that cannot be read are drawn as red
// stripes, and counted. The error is about a mag or z that the layer does not have, or that of ctx.
func Draw(ctx context.Context, mags []Mag, o Options) (*Picture, error) {
	mag := o.choose(mags)
	if o.Mag != "" {
		var err error
		if mag, err = find(mags, o.Mag); err != nil {
			return nil, err
		}
	}
	plane, err := mag.plane(o.Z)
	if err != nil {
		return nil, err
	}
	part := mag.crop(plane)
	shown := mag
	shown.Bounds = part
	width, height := o.fit(shown)
	d := &drawing{mag: mag, memory: semaphore.NewWeighted(maxMemory), cells: newCells(mag, part, width, height),
		picture: &Picture{Mag: mag, Plane: plane, Drawn: part}}
	if err := d.read(ctx, max(o.Jobs, 1)); err != nil {
		return nil, err
	}
	d.picture.Image, d.picture.Window = d.cells.draw(width, height)
	d.picture.Zero = d.picture.Damaged == 0 && d.cells.zero()
	return d.picture, nil
}

// drawing is the state of one call of Draw.
type drawing struct {
	mag    Mag
	memory *semaphore.Weighted // of blocks that are being decoded

	mu      sync.Mutex // guards the fields below
	cells   *cells
	picture *Picture
}

// read reads all cubes of the plane.
func (d *drawing) read(ctx context.Context, jobs int) error {
	g, box := d.mag.Cube, d.picture.Drawn
	cubes := box.Sub(g.Origin).Div(g.Size)
	var group errgroup.Group
	group.SetLimit(jobs)
	for c := range cubes.All() {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			d.readCube(ctx, c)
			return nil
		})
	}
	_ = group.Wait() // readCube records its errors
	return ctx.Err()
}

const (
	// Limits of one Fill.
	fillBytes  = 8 << 20
	fillBlocks = 4096

	// maxMemory bounds the memory of blocks that are being decoded, in bytes. A larger block is decoded alone.
	maxMemory = 128 << 20
)

// readCube reads the part of the plane that is in cube c.
func (d *drawing) readCube(ctx context.Context, c volume.Vec) {
	f, err := d.mag.open(c)
	if err != nil {
		d.missing(d.mag.Cube.CubeBox(c), err)
		return
	}
	defer f.Close()
	g := f.Grid()
	if d.mag.single {
		g.Origin = volume.Vec{}
	}
	needed := d.picture.Drawn.Intersect(volume.Box{Min: g.Origin, Max: g.Origin.Add(g.Size)})
	if needed.Empty() {
		return
	}
	at := needed.Sub(g.Origin).Div(g.Block)
	limit := min(max(1, fillBytes/g.BlockBytes()), fillBlocks)
	var batch []volume.Block
	for b := range at.All() {
		if batch = append(batch, volume.Block{At: b, Shares: true}); len(batch) == limit {
			d.readBlocks(ctx, f, g, batch)
			batch = batch[:0]
		}
	}
	d.readBlocks(ctx, f, g, batch)
}

// missing handles a cube that cannot be opened. If it does not exist, its voxels are 0.
func (d *drawing) missing(box volume.Box, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(err, fs.ErrNotExist) {
		d.cells.add(block{stored: box})
		return
	}
	part := d.picture.Drawn.Intersect(box)
	n := part.Sub(box.Min).Div(d.mag.Cube.Block).Size()
	d.fail(box, n[0]*n[1], err)
}

// readBlocks reads blocks of a cube and adds their voxels. They have the type of the mag, because OpenCube compares it.
func (d *drawing) readBlocks(ctx context.Context, f volume.CubeFile, g volume.Grid, blocks []volume.Block) {
	if ctx.Err() != nil || len(blocks) == 0 {
		return
	}
	voxels := g.BlockBytes() * len(blocks)
	weight := min(int64(voxels+max(voxels, volume.WorkMemory(f, g))), maxMemory)
	if d.memory.Acquire(ctx, weight) != nil {
		return // canceled
	}
	defer d.memory.Release(weight)
	memory := scratch.Blocks{Bytes: g.BlockBytes(), N: len(blocks)}
	defer memory.Free()
	f.Fill(ctx, blocks, func(volume.Vec) []byte { return memory.Next() })
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range blocks {
		stored := g.BlockBox(b.At)
		box := volume.Box{Min: g.Origin.Add(stored.Min), Max: g.Origin.Add(stored.Max)}
		if b.Err != nil {
			d.fail(box, 1, b.Err)
			continue
		}
		d.picture.Blocks++
		d.cells.add(block{b.Voxels, g.Block, box})
	}
}

// fail records n blocks that cannot be read. d.mu is held.
func (d *drawing) fail(box volume.Box, n int, err error) {
	p := d.picture
	p.Blocks += n
	p.Damaged += n
	d.cells.markDamaged(box)
	for _, known := range p.Faults {
		if known.Error() == err.Error() {
			return
		}
	}
	if len(p.Faults) < maxFaults {
		p.Faults = append(p.Faults, err)
	}
}
