package overlay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// cube is an open cube below, and the places of the cubes above it.
type cube struct {
	below volume.CubeFile // nil if there is none
	above volume.Mag
	parts cell
	grid  volume.Grid
	info  fs.FileInfo

	listed sync.Once
	places places // of the parts; set by listed
}

var (
	_ volume.CubeFile       = (*cube)(nil)
	_ volume.Announcer      = (*cube)(nil)
	_ volume.MemoryReporter = (*cube)(nil)
)

// start sets the geometry and the description of cube c of the mag below.
func (f *cube) start(below volume.Mag, c volume.Vec) (err error) {
	g, err := below.CubeGrid()
	if err != nil {
		return err
	}
	var info fs.FileInfo
	if f.below != nil {
		f.grid, info = f.below.Grid(), f.below.Info()
	} else {
		f.grid = g
		f.grid.Origin = g.CubeBox(c).Min
	}
	above, err := f.above.CubeGrid()
	if err == nil {
		err = sameVoxels(f.grid, above, "the layer below", "a layer")
	}
	f.info = describe(g, c, info, f.parts)
	return err
}

func (f *cube) Grid() volume.Grid    { return f.grid }
func (f *cube) Info() fs.FileInfo    { return f.info }
func (f *cube) Version() vfs.Version { return vfs.VersionOf(f.info) }

// Close closes the cube below.
func (f *cube) Close() error {
	if f.below == nil {
		return nil
	}
	return f.below.Close()
}

// Announce implements [volume.Announcer], as far as the cube below does.
func (f *cube) Announce(ctx context.Context, box volume.Box) {
	if a, ok := f.below.(volume.Announcer); ok {
		a.Announce(ctx, box)
	}
}

// WorkMemory implements [volume.MemoryReporter].
func (f *cube) WorkMemory(g volume.Grid) int {
	work := 0
	if f.below != nil {
		work = volume.WorkMemory(f.below, g)
	}
	if above, err := f.above.CubeGrid(); err == nil {
		work += above.BlockBytes() + volume.WorkMemory(f.above, above)
	}
	return work
}

// Fill implements [volume.Source]. A block that a block above covers exactly is decoded from there alone.
func (f *cube) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	index := make(map[volume.Vec]int, len(blocks))
	for i := range blocks {
		blocks[i].Voxels, blocks[i].Shared, blocks[i].Err = nil, false, nil
		index[blocks[i].At] = i
	}
	done := make([]bool, len(blocks))
	lent := func(at volume.Vec) []byte { return blockMemory(&blocks[index[at]], memory) }
	above := f.aboveOf(blocks)
	for _, p := range above {
		f.fillExact(ctx, p, blocks, done, memory)
	}
	f.fillBelow(ctx, blocks, done, memory)
	for _, p := range above {
		f.fillPart(ctx, p, blocks, done, lent)
	}
}

// blockMemory returns the memory of a block: what it has if that may be written, or else more, with the same voxels.
func blockMemory(b *volume.Block, memory func(at volume.Vec) []byte) []byte {
	if b.Voxels == nil || b.Shared {
		lent := memory(b.At)
		clear(lent[copy(lent, b.Voxels):])
		b.Voxels, b.Shared = lent, false
	}
	return b.Voxels
}

// box returns the voxels of a block, padding included, in absolute voxels of the mag.
func (f *cube) box(at volume.Vec) volume.Box {
	return at.BoxOfOne().Mul(f.grid.Block).Add(f.grid.Origin)
}

// touching is a part and the blocks that overlap with it, as positions in a list of blocks.
type touching struct {
	part
	blocks []int
}

// aboveOf returns the parts that overlap with blocks, in their order.
func (f *cube) aboveOf(blocks []volume.Block) (found []touching) {
	f.listed.Do(func() { f.places = placesOf(f.parts, f.grid) })
	touched := map[int][]int{} // blocks by parts
	for i, b := range blocks {
		f.places.of(b.At, func(part int) {
			if !f.parts[part].box.Intersect(f.box(b.At)).Empty() {
				touched[part] = append(touched[part], i)
			}
		})
	}
	for _, part := range slices.Sorted(maps.Keys(touched)) {
		found = append(found, touching{f.parts[part], touched[part]})
	}
	return found
}

// fillBelow decodes those blocks that are not done from the cube below.
func (f *cube) fillBelow(ctx context.Context, blocks []volume.Block, done []bool, memory func(at volume.Vec) []byte) {
	if f.below == nil {
		return
	}
	rest := make([]volume.Block, 0, len(blocks))
	index := make(map[volume.Vec]int, len(blocks))
	for i, b := range blocks {
		if !done[i] {
			rest = append(rest, volume.Block{At: b.At, Shares: b.Shares})
			index[b.At] = i
		}
	}
	if len(rest) == 0 {
		return
	}
	f.below.Fill(ctx, rest, memory)
	for _, b := range rest {
		blocks[index[b.At]] = b
	}
}

// open opens a part. It fails with vfs.ErrChanged if the part is not as it was listed.
func (f *cube) open(p part) (volume.CubeFile, error) {
	opened, err := f.above.OpenCube(p.at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cube %v: %w", p.at, vfs.ErrChanged)
	}
	if err != nil {
		return nil, err
	}
	if opened.Version() != vfs.VersionOf(p.info) {
		opened.Close() // read-only: nothing can be lost
		return nil, fmt.Errorf("cube %v: %w", p.at, vfs.ErrChanged)
	}
	return opened, nil
}

// fillExact decodes the blocks that are also blocks of a part into their own memory. Those that the part does not
// have are not done.
func (f *cube) fillExact(ctx context.Context, p touching, blocks []volume.Block, done []bool,
	memory func(at volume.Vec) []byte) {
	var exact []volume.Block
	index := map[volume.Vec]int{} // of a block of the part, in blocks
	above, err := f.above.CubeGrid()
	if err != nil || above.Block != f.grid.Block {
		return // fillPart has the error
	}
	for _, i := range p.blocks {
		from := f.box(blocks[i].At).Min.Sub(p.box.Min)
		at := from.Div(above.Block)
		if at.Mul(above.Block) == from && at.In(above.Blocks()) {
			exact = append(exact, volume.Block{At: at, Shares: blocks[i].Shares})
			index[at] = i
		}
	}
	if len(exact) == 0 {
		return
	}
	opened, err := f.open(p.part)
	if err != nil {
		return
	}
	defer opened.Close()
	opened.Fill(ctx, exact, func(at volume.Vec) []byte { return memory(blocks[index[at]].At) })
	for _, b := range exact {
		i := index[b.At]
		if b.Err != nil {
			blocks[i].Err, done[i] = b.Err, true
		} else if b.Voxels != nil {
			blocks[i].Voxels, blocks[i].Shared, done[i] = b.Voxels, b.Shared, true
		}
	}
}

// fillPart copies the voxels of a part into the blocks that are not done and overlap with it.
func (f *cube) fillPart(ctx context.Context, p touching, blocks []volume.Block, done []bool,
	memory func(at volume.Vec) []byte) {
	var touched []int // in blocks
	needed := volume.Box{}
	for _, i := range p.blocks {
		if !done[i] && blocks[i].Err == nil {
			touched = append(touched, i)
			needed = needed.Union(p.box.Intersect(f.box(blocks[i].At)))
		}
	}
	if len(touched) == 0 {
		return
	}
	fail := func(i int, err error) { blocks[i].Voxels, blocks[i].Shared, blocks[i].Err = nil, false, err }
	opened, err := f.open(p.part)
	if err != nil {
		for _, i := range touched {
			fail(i, err)
		}
		return
	}
	defer opened.Close()
	g := opened.Grid()
	buffer := scratch.Get(g.BlockBytes())
	defer scratch.Put(buffer)
	for at := range needed.Sub(g.Origin).Div(g.Block).All() {
		stored := at.BoxOfOne().Mul(g.Block).Add(g.Origin)
		var voxels []byte
		read := false
		for _, i := range touched {
			common := stored.Intersect(f.box(blocks[i].At))
			if common.Empty() || blocks[i].Err != nil {
				continue
			}
			if !read {
				one := [1]volume.Block{{At: at, Shares: true}}
				opened.Fill(ctx, one[:], func(volume.Vec) []byte { return *buffer })
				voxels, err, read = one[0].Voxels, one[0].Err, true
			}
			switch {
			case err != nil:
				fail(i, err)
			case voxels != nil:
				copyBox(memory(blocks[i].At), f.box(blocks[i].At), voxels, stored, common, g.VoxelBytes())
			}
		}
	}
}

// copyBox copies the voxels of a box that is common to two arrays. Each array has the voxels of its own box, in
// Fortran order.
func copyBox(to []byte, toBox volume.Box, from []byte, fromBox, common volume.Box, voxel int) {
	row := common.Size()[0] * voxel
	for z := common.Min[2]; z < common.Max[2]; z++ {
		for y := common.Min[1]; y < common.Max[1]; y++ {
			first := volume.Vec{common.Min[0], y, z}
			at, start := first.Sub(toBox.Min).Index(toBox.Size()), first.Sub(fromBox.Min).Index(fromBox.Size())
			copy(to[at*voxel:][:row], from[start*voxel:][:row])
		}
	}
}
