package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/read/prefetch"
	"github.com/wkwfs/wkwfs/volume"
)

// arrayFile presents a box of a mag as a file in one of the formats.
type arrayFile struct {
	d      magDir
	name   string
	suffix string      // of the format
	box    *volume.Box // in absolute voxels of the mag; nil: the whole bounding box, as volume.*
}

// contents is what an arrayFile consists of in one snapshot.
type contents struct {
	box      volume.Box // in absolute voxels of the mag
	array    header.Array
	layout   header.Layout
	detached bool // the file has no voxels
	unit     header.Unit
}

// contents fails with fs.ErrNotExist if the format cannot hold the array, or if the box has no voxel of the layer.
func (f arrayFile) contents(snap *snapshot) (contents, error) {
	c := contents{box: snap.Bounds()}
	if f.box != nil {
		c.box = *f.box
	}
	if c.box.Intersect(snap.Bounds()).Empty() {
		return c, fmt.Errorf("%w: %v lies outside of the layer, %v", fs.ErrNotExist, c.box, snap.Bounds())
	}
	c.array = snap.header(f.d.path, c.box)
	if f.suffix == tree.JSON {
		c.detached = true
	}
	for _, format := range header.Formats() {
		if format.Suffix == f.suffix {
			c.detached, c.unit = format.Detached, format.UnitOf(c.array)
		}
	}
	var err error
	c.layout, err = f.layout(snap, c.array)
	return c, err
}

// layout returns the layout of the file. It keeps that of the whole volume in the snapshot.
func (f arrayFile) layout(snap *snapshot, a header.Array) (header.Layout, error) {
	if f.box != nil {
		return makeLayout(f.suffix, a, snap.storage(), nil)
	}
	type result struct {
		layout header.Layout
		err    error
	}
	if kept, ok := snap.layouts.Load(f.suffix); ok {
		r := kept.(result)
		return r.layout, r.err
	}
	layout, err := makeLayout(f.suffix, a, snap.storage(), nil)
	snap.layouts.Store(f.suffix, result{layout, err})
	return layout, err
}

// makeLayout builds the layout of a format. invalid is why the array cannot be a file, or nil. It fails with
// fs.ErrNotExist if the format cannot hold the array.
func makeLayout(suffix string, a header.Array, stored header.Storage, invalid error) (header.Layout, error) {
	if invalid == nil {
		invalid = a.Check()
	}
	switch {
	case suffix == tree.JSON && invalid != nil:
		why := map[string]any{"error": invalid.Error()}
		if a.Times > 0 {
			why["times"] = a.Times
		}
		head, err := json.Marshal(why)
		return header.Layout{Head: append(head, '\n')}, err
	case suffix == tree.JSON:
		head, err := header.VolumeJSON(a, stored)
		return header.Layout{Head: head}, err
	case invalid != nil:
		return header.Layout{}, fmt.Errorf("%w: %w", fs.ErrNotExist, invalid)
	case suffix == tree.Raw:
		return header.Layout{}, nil
	}
	for _, format := range header.Formats() {
		if format.Suffix != suffix {
			continue
		}
		layout, err := format.Layout(a)
		var cannot *header.Unrepresentable
		if errors.As(err, &cannot) {
			err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		if err == nil && !format.Detached && a.Bytes() > math.MaxInt64-int64(len(layout.Head))-layout.TailSize {
			err = fmt.Errorf("%w: with its header %w", fs.ErrNotExist, volume.ErrTooLarge)
		}
		return layout, err
	}
	return header.Layout{}, fs.ErrNotExist
}

func (f arrayFile) stat() (fs.FileInfo, error) {
	snap, err := f.d.snapshot()
	if err != nil {
		return nil, err
	}
	c, err := f.contents(snap)
	if f.box != nil && errors.Is(err, fs.ErrNotExist) { // the layer may have grown since the snapshot
		snap, c, err = f.current()
	}
	if err != nil {
		return nil, err
	}
	return f.info(snap, c)
}

// current returns a snapshot in which the box of the file matches the source, and what the file contains. If the box
// has no voxel of the snapshot, all cubes have to match: a new one outside of the box may have moved the bounds.
func (f arrayFile) current() (*snapshot, contents, error) {
	snap, err := f.d.currentSnapshot(f.box)
	if err != nil {
		return nil, contents{}, err
	}
	c, err := f.contents(snap)
	if f.box == nil || !errors.Is(err, fs.ErrNotExist) {
		return snap, c, err
	}
	if snap, err = f.d.currentSnapshot(nil); err != nil {
		return nil, contents{}, err
	}
	c, err = f.contents(snap)
	return snap, c, err
}

func (f arrayFile) info(snap *snapshot, c contents) (info, error) {
	source, err := snap.Info()
	if err != nil {
		return info{}, err
	}
	size := int64(len(c.layout.Head)) + c.layout.TailSize
	if !c.detached {
		size += c.array.Grid.Bytes()
	}
	i := fileInfo(f.name, size, source)
	i.version, i.stored, i.unit = snap.fileVersion(), size, c.unit
	if !c.detached {
		grid := c.array.Grid // alone: the kernel remembers many files, and each head has some kilobytes
		i.array = &grid
		i.stored = snap.Share(c.box)
	}
	return i, nil
}

func (f arrayFile) open() (fs.File, error) {
	snap, c, err := f.current()
	if err != nil {
		return nil, err
	}
	info, err := f.info(snap, c)
	if err != nil {
		return nil, err
	}
	snap.Open()
	if c.detached {
		return newFile(info, c.layout, nil, snap.Close), nil
	}
	return f.openVoxels(snap, c, info), nil
}

// openVoxels opens a file with voxels. Programs often open the planes of a volume in order. Such planes are read like
// the whole volume, so that the next planes are prefetched.
func (f arrayFile) openVoxels(snap *snapshot, c contents, info info) fs.File {
	hint := prefetch.NoHint
	z, offset, isPlane := snap.planeOf(c.box)
	switch {
	case isPlane:
		hint = prefetch.HintSequential // a single plane is too short for prefetching
	case f.box != nil:
		hint = prefetch.HintOnce
	}
	r := arrayReader{f.d.fsys.prefetch.NewReader(snap.array(c.box, len(c.layout.Head)), hint)}
	a := newFile(info, c.layout, r, snap.Close)
	if isPlane {
		a.whole, a.closeWhole = snap.stack.Open(z)
		a.offset = offset
	}
	a.once = a.whole != nil || hint == prefetch.HintOnce && r.IsReadOnce()
	a.holes = snap.Holes(r.Array())
	return a
}
