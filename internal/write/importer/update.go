package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/small/lockfile"
	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// Update replaces a box of an existing layer by the input, in all mags of the layer. The input must have the type and
// channels of the layer, and its position from the options or the header. Only the cubes with a voxel of the box are
// written. Each is replaced as a whole. After an error, the same call completes the update.
//
// Update uses Layer, Offset, Downsample, Memory, Jobs, Stats, Planned, DryRun, Waits and Backup of the options.
func Update(ctx context.Context, in *arrayfile.Array, dir string, o Options) error {
	return replace(ctx, dir, o, func(dir string, o Options) (*update, error) {
		if o.planned {
			o.Axes = in.Layout.Axes // as the plan says
		}
		return planUpdate(in, dir, o)
	})
}

// replace plans and writes an update.
func replace(ctx context.Context, dir string, o Options, plan func(dir string, o Options) (*update, error)) error {
	if o.Stats == nil {
		o.Stats = &Stats{}
	}
	if o.Jobs == 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	u, err := plan(dir, o)
	if err != nil {
		return err
	}
	if o.Planned != nil {
		o.Planned(u.plan())
	}
	if o.DryRun != nil {
		return u.dryRun(ctx)
	}
	u.locked = owner(dir, u.mags[0].Dir)
	lock, err := u.lock(ctx, lockfile.Options{Wait: forever}, u.dirs()...)
	if err != nil {
		return err
	}
	defer lock.Release()
	o.planned = true
	if u, err = plan(dir, o); err != nil { // of what another process has written until now
		return err
	}
	if u.verify != nil {
		if err := u.verify(ctx); err != nil {
			return fmt.Errorf("the layer is not changed: %w", err)
		}
	}
	if err := u.keep(); err != nil {
		return fmt.Errorf("the layer is not changed: %w", err)
	}
	if err := u.write(ctx); err != nil {
		return fmt.Errorf("layer %s is updated in part: %w", o.Layer, err)
	}
	if err := u.unchanged(); err != nil {
		return err
	}
	return u.raiseLargestInMetadata(ctx)
}

// planUpdate opens the layer, and checks that the input fits.
func planUpdate(in *arrayfile.Array, dir string, o Options) (*update, error) {
	u := &update{layer: layer{Options: o, in: in, dir: filepath.Join(dir, o.Layer)}}
	for _, step := range []func() error{u.checkName, u.checkComplete, u.openMags, u.match, u.setBox, u.checkBox,
		u.setMethod} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	u.boxes = []volume.Box{u.box}
	u.fingerprint, u.unchanged = in.Fingerprint(), in.Unchanged
	u.input = func(volume.Box) pyramid.Source { return in }
	return u, nil
}

// update is a layer that is being updated.
type update struct {
	layer
	mags   []pyramid.Mag // of the layer, finest first
	finest volume.Mag
	bounds volume.Box // of the layer

	boxes       []volume.Box                    // that are written, one after the other: they are in box
	fingerprint []byte                          // of the input
	unchanged   func() error                    // fails if the input has changed
	verify      func(ctx context.Context) error // fails if the input cannot be read; may be nil
	input       func(box volume.Box) pyramid.Source
}

// dirs returns the directories of the mags.
func (u *update) dirs() (all []string) {
	for _, m := range u.mags {
		all = append(all, m.Dir)
	}
	return all
}

// checkComplete fails if the import of the layer was not finished.
func (u *update) checkComplete() error {
	_, err := os.Lstat(u.journalPath())
	if err == nil {
		err = fmt.Errorf("%s: an update needs a complete layer: %w", u.layer.dir, ErrUnfinished)
	} else if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		err = nil
	}
	return err
}

func (u *update) plan() Plan {
	p := u.layer.plan()
	p.Part, p.Factors = u.box, nil
	for _, m := range u.mags {
		p.Factors = append(p.Factors, m.Factor)
	}
	return p
}

// openMags finds the mags of the layer.
func (u *update) openMags() error {
	root, err := webknossos.Recognise(os.DirFS(u.dataset()), ".", webknossos.Options{Name: filepath.Base(u.dataset())})
	if err != nil {
		return fmt.Errorf("%s: %w", u.dataset(), err)
	}
	if root.Dataset == nil {
		return fmt.Errorf("%s: not a dataset", u.dataset())
	}
	l, err := root.Dataset.Layer(u.Layer)
	if errors.Is(err, fs.ErrNotExist) {
		err = cmp.Or(u.otherFormat(), fmt.Errorf("an update needs an existing layer: %w", err))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", u.layer.dir, err)
	}
	names, err := l.Mags()
	if err != nil {
		return fmt.Errorf("layer %s: %w", u.Layer, err)
	}
	for _, name := range names {
		m, err := l.Mag(name)
		if err == nil {
			err = u.addMag(m)
		}
		if err != nil {
			return fmt.Errorf("layer %s, mag %s: %w", u.Layer, name, err)
		}
	}
	if u.finest == nil {
		return fmt.Errorf("layer %s: it has no mags", u.Layer)
	}
	u.bounds, err = u.finest.Bounds()
	return err
}

// otherFormat returns an error if the layer is not one of WKW.
func (u *update) otherFormat() error {
	meta, err := readMetadata(u.dataset())
	if err != nil {
		return err
	}
	for _, l := range meta.known.Layers {
		if l.Name == u.Layer && l.DataFormat != "" && l.DataFormat != pyramid.WKW.String() {
			return fmt.Errorf("it is of %s, and only layers of WKW can be updated", l.DataFormat)
		}
	}
	return nil
}

func (u *update) addMag(m volume.Mag) error {
	where, ok := m.(webknossos.Location)
	if !ok {
		return errors.New("only layers of WKW can be updated")
	}
	h, err := where.Header()
	if err != nil {
		return err
	}
	if h.Draft {
		return &volume.UnsupportedError{File: where.Dir(), Part: "format", Offset: -1, Expected: "version 1",
			Found: "the draft"}
	}
	add := pyramid.Mag{Factor: m.About().Factor, Dir: filepath.Join(u.dataset(), filepath.FromSlash(where.Dir())),
		Header: h, Under: m}
	if u.finest == nil {
		if add.Factor != (volume.Factor{1, 1, 1}) {
			return errors.New("a layer without mag 1 cannot be updated")
		}
		u.finest, u.Category = m, m.About().Category
	} else if !u.mags[0].Header.Fits(h) {
		return fmt.Errorf("expected cubes as in mag 1, of %v voxels in blocks of %v, found %v in blocks of %v",
			u.mags[0].Header.Grid().Size, u.mags[0].Header.Grid().Block, h.Grid().Size, h.Grid().Block)
	}
	u.mags = append(u.mags, add)
	return nil
}

// match finds out how the input belongs to the layer. If that is not known, one error names all that is missing.
func (u *update) match() error {
	var needs []Need
	err := collect(&needs, u.chooseAxes, u.checkInput)
	if err == nil && len(needs) > 0 {
		err = &MissingError{needs}
	}
	return err
}

// chooseAxes chooses the axes of the input. Its box must lie in the layer.
func (u *update) chooseAxes() error {
	return u.setAxes([]place{{u.Layer, u.bounds, u.mags[0].Header.Channels}}, true)
}

// checkInput compares the voxels of the input with those of the layer.
func (u *update) checkInput() error {
	have, want := u.in.Grid, u.mags[0].Header
	if have.Type != want.Type || have.Channels != want.Channels {
		return fmt.Errorf("voxels of %d × %v: layer %s has %d × %v", have.Channels, have.Type, u.Layer, want.Channels,
			want.Type)
	}
	return u.checkOffset()
}

// checkOffset fails if nothing says where the input belongs.
func (l *layer) checkOffset() error {
	if l.Offset == nil && !l.in.Positioned && l.in.PositionErr == nil {
		err := fmt.Errorf("where the voxels belong is not known: %w", arrayfile.ErrPosition)
		need := Need{Field: FieldOffset, Err: err}
		if !l.Named.Empty() {
			need.Value = l.Named.Min.String() // not more than a proposal: it may be a box of a coarser mag
		}
		return &MissingError{[]Need{need}}
	}
	return nil
}

// checkBox checks that the layer has the box.
func (u *update) checkBox() error {
	if u.box.Intersect(u.bounds) != u.box {
		err := fmt.Errorf("box %v: layer %s has %v: an update does not extend it", u.box, u.Layer, u.bounds)
		if u.doubt != "" {
			err = fmt.Errorf("%w; %s", err, u.doubt)
		}
		return err
	}
	return nil
}

// write writes all blocks, of all mags, that depend on the boxes.
func (u *update) write(ctx context.Context) error {
	if len(u.boxes) == 1 {
		return u.writeBox(ctx, u.boxes[0], u.Stats)
	}
	voxel := u.in.Grid.VoxelBytes()
	for _, box := range u.boxes {
		u.Stats.AllBytes.Add(bytesOf(box, voxel))
	}
	for _, box := range u.boxes {
		var one Stats
		err := u.writeBox(ctx, box, &one)
		u.Stats.DoneBytes.Add(bytesOf(box, voxel))
		u.Stats.Written.Add(one.Written.Load())
		u.Stats.Empty.Add(one.Empty.Load())
		if err != nil {
			return err
		}
	}
	return nil
}

// bytesOf returns the bytes of the voxels of a box.
func bytesOf(b volume.Box, voxel int) int64 {
	n := b.Size()
	return int64(n[0]) * int64(n[1]) * int64(n[2]) * int64(voxel)
}

// writeBox writes all blocks, of all mags, that depend on a box.
func (u *update) writeBox(ctx context.Context, box volume.Box, stats *Stats) error {
	align := volume.Cube(max(u.mags[0].Header.BlockSide, min(pyramid.SlabPlanes, u.mags[0].Header.CubeSide())))
	whole := box.Div(align).Mul(align)
	p := pyramid.Layer{
		Box: whole, Mags: u.mags, Method: u.method, Memory: u.Memory, Jobs: u.Jobs, Temp: u.mags[0].Dir, Stats: stats,
	}
	if u.Category == Segmentation {
		p.Observe = u.raiseLargest
	}
	return pyramid.Write(ctx, &patched{Source: u.input(box), box: box, whole: whole, under: u.finest,
		voxel: u.in.Grid.VoxelBytes()}, p)
}

// raiseLargestInMetadata raises the largest id of a segmentation. It changes nothing else.
func (u *update) raiseLargestInMetadata(ctx context.Context) error {
	if u.Category != Segmentation {
		return nil
	}
	return changeMetadata(ctx, u.dataset(), u.Waits,
		func(m *metadata) (bool, error) { return m.raiseLargest(u.Layer, u.largest.Load()) })
}

// patched is a box of a layer with the input in a part of it. It implements pyramid.Source.
type patched struct {
	pyramid.Source            // the input
	box            volume.Box // of the input, in voxels of mag 1
	whole          volume.Box // of all
	under          volume.Mag
	voxel          int // bytes
}

// Read implements pyramid.Source.
func (o *patched) Read(ctx context.Context, box volume.Box, dst []byte) error {
	box = box.Add(o.whole.Min)
	part := box.Intersect(o.box)
	if part == box {
		return o.readInput(ctx, part, dst)
	}
	voxels, err := volume.ReadBox(ctx, o.under, box)
	if err != nil {
		return err
	}
	copy(dst, voxels)
	if part.Empty() {
		return nil
	}
	voxel, size := o.voxel, part.Size()
	over := make([]byte, voxel*size[0]*size[1]*size[2])
	if err := o.readInput(ctx, part, over); err != nil {
		return err
	}
	row := size[0] * voxel
	for z := part.Min[2]; z < part.Max[2]; z++ {
		for y := part.Min[1]; y < part.Max[1]; y++ {
			at := volume.Vec{part.Min[0], y, z}.Sub(box.Min).Index(box.Size()) * voxel
			copy(dst[at:at+row], over)
			over = over[row:]
		}
	}
	return nil
}

// readInput reads a part of the input, in voxels of mag 1.
func (o *patched) readInput(ctx context.Context, part volume.Box, dst []byte) error {
	return o.Source.Read(ctx, part.Sub(o.box.Min), dst)
}
