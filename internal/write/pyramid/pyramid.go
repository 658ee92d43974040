package pyramid

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/write/downsample"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// Source is an array of voxels.
type Source interface {
	// Read reads a box into dst, in Fortran order of the size of the box, with interleaved channels and little-endian
	// numbers. Position 0,0,0 is the first voxel of the array.
	Read(ctx context.Context, box volume.Box, dst []byte) error
	// Sequential reports whether Read accepts only boxes of whole rows, in the order of the array, each at most once.
	// Otherwise any number of goroutines may read any boxes.
	Sequential() bool
	// WholePlanes reports whether Read decodes whole planes, whatever its box. Boxes of whole planes are fastest then.
	WholePlanes() bool
}

// Mag is one mag that is written.
type Mag struct {
	Factor volume.Factor
	Dir    string // of the cube files; it must exist
	Format Format
	Header wkw.Header // the geometry of all cubes, and the block type of WKW; DataOffset is ignored
	// Under is the existing mag that is changed. Blocks of its cubes stay, except those with voxels that depend on the
	// source. It is nil for a new mag. Then a cube that exists stays: an earlier call has written it.
	Under volume.Mag
}

// Layer says what is written, and how.
type Layer struct {
	// of the source, in voxels of Mags[0]; if that has an Under, the source has whole slabs of whole blocks
	Box    volume.Box
	Mags   []Mag // finest first; each factor is once or twice the one before, on every axis
	Method downsample.Method
	// From is the first plane that is read, in voxels of Mags[0]: that of a Checkpoint, or 0. An earlier call has
	// written all cubes below it.
	From   int
	Memory int64  // bytes that the call may use, approximately
	Jobs   int    // number of goroutines that encode blocks; 0: GOMAXPROCS
	Temp   string // directory of temporary files

	// Observe is called with the blocks of Mags[0] that have a voxel other than 0, by several goroutines. It may be
	// nil.
	Observe func(voxels []byte)
	// Checkpoint is called when all cubes with voxels below plane z are on disk, and no others. It may be nil.
	Checkpoint func(z int) error
	Stats      *Stats
}

// Stats counts the progress of [Write]. It may be read at any time.
type Stats struct {
	AllBytes  atomic.Int64 // of the source
	DoneBytes atomic.Int64
	KeptBytes atomic.Int64 // of DoneBytes: an earlier call has written them
	Written   atomic.Int64 // cubes
	Kept      atomic.Int64 // cubes that existed
	Empty     atomic.Int64 // cubes of zeros, which are not written
	Plane     atomic.Int64 // the plane of Mags[0] up to which the source is done
}

// writer is one call of Write.
type writer struct {
	layer   Layer
	mags    []*mag
	spool   *spool
	workers chan *worker
	tile    int64 // most bytes of a tile

	disk      *directWriter // of mags that are written past the page cache; nil: there are none
	assembler *assembler    // of such mags; nil: there are none
}

// Write writes the cubes of all mags in one pass over the source. Each cube appears complete and synced, by rename. A
// cube of zeros is not written, unless it replaces another. After an error no part of a cube is left.
func Write(ctx context.Context, src Source, l Layer) (err error) {
	w := &writer{layer: l}
	defer func() { err = w.disk.cause(errors.Join(err, w.close())) }()
	if err := w.plan(); err != nil {
		return err
	}
	return w.writeAll(ctx, src)
}

// writeAll writes all slabs.
func (w *writer) writeAll(ctx context.Context, src Source) error {
	in, err := w.open(ctx, src)
	if err != nil {
		return err
	}
	defer in.close()
	first := w.mags[0]
	for slab := range first.slabs() {
		for range in.tilesPerSlab {
			t, err := in.next()
			if err != nil {
				return err
			}
			if err := first.add(ctx, t); err != nil {
				return err
			}
			w.layer.Stats.DoneBytes.Add(bytesOf(t.box.Intersect(w.layer.Box), first.voxel))
			in.giveBack(t)
		}
		if err := first.endSlab(ctx, slab); err != nil {
			return err
		}
		w.layer.Stats.Plane.Store(int64(min(slab[1], w.layer.Box.Max[2])))
		if err := w.checkpoint(slab[1]); err != nil {
			return err
		}
	}
	return w.finish()
}

// finish waits until all cubes are on disk.
func (w *writer) finish() error {
	var all []error
	for _, m := range w.mags {
		all = append(all, m.closing.wait())
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	for _, m := range w.mags {
		all = append(all, m.closing.syncDirs())
	}
	return errors.Join(all...)
}

// checkpoint calls Checkpoint if no mag has an open cube, or planes that wait for their slab. It first waits until all
// cubes are on disk.
func (w *writer) checkpoint(z int) error {
	for _, m := range w.mags {
		if m.cubes != nil || m.collected {
			return nil
		}
	}
	if err := w.finish(); err != nil || w.layer.Checkpoint == nil {
		return err
	}
	return w.layer.Checkpoint(z)
}

// close ends the goroutines and removes temporary files.
func (w *writer) close() error {
	var all []error
	for _, m := range w.mags {
		all = append(all, m.closing.wait()) // which needs the goroutines
	}
	w.assembler.end()
	w.disk.end()
	for _, m := range w.mags {
		all = append(all, m.abandon())
	}
	return errors.Join(append(all, w.spool.close())...)
}

// plan computes the geometry of all mags, and divides the memory.
func (w *writer) plan() error {
	if w.layer.Stats == nil {
		w.layer.Stats = &Stats{}
	}
	w.tile = w.layer.Memory / 8
	box := w.layer.Box
	for i, m := range w.layer.Mags {
		if i > 0 {
			box = coarser(w.layer.Box, w.layer.Mags[0].Factor, m.Factor)
		}
		add, err := newMag(w, m, box)
		if err != nil {
			return err
		}
		if i > 0 {
			if err := w.mags[i-1].reduceTo(add); err != nil {
				return fmt.Errorf("mag %v: %w", m.Factor, err)
			}
		}
		w.mags = append(w.mags, add)
	}
	w.mags[0].region.Min[2] = max(w.mags[0].region.Min[2], w.layer.From)
	w.layer.Stats.AllBytes.Store(bytesOf(w.layer.Box, w.mags[0].voxel))
	kept := bytesOf(volume.Box{Min: w.layer.Box.Min, Max: volume.Vec{w.layer.Box.Max[0], w.layer.Box.Max[1],
		min(w.layer.From, w.layer.Box.Max[2])}}, w.mags[0].voxel)
	w.layer.Stats.KeptBytes.Store(kept)
	w.layer.Stats.DoneBytes.Store(kept)
	return w.divideMemory()
}

// coarser returns a box in voxels of a mag with other factors. Min is rounded down, Max is rounded up.
func coarser(b volume.Box, from, to volume.Factor) volume.Box {
	return b.Div(volume.Vec(to).Div(volume.Vec(from)))
}

// bytesOf returns the size of a box in bytes, 0 for an empty box.
func bytesOf(b volume.Box, voxel int) int64 {
	if b.Empty() {
		return 0
	}
	size := b.Size()
	return int64(size[0]) * int64(size[1]) * int64(size[2]) * int64(voxel)
}
