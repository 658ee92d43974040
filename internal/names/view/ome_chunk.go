package view

import (
	"context"
	"errors"
	"io/fs"
	"strconv"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/names/omezarr"
	"github.com/wkwfs/wkwfs/internal/read/prefetch"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// omeChunk is a chunk of an array of OME-Zarr. It has one channel. The file does not exist if no cube has a voxel of
// it.
type omeChunk struct {
	l       omeLevel
	channel int
	at      volume.Vec // in chunks
}

// chunkForm is how a chunk is stored in a snapshot.
type chunkForm struct {
	array  omeArray
	box    volume.Box // absolute voxels of the mag
	column *column    // in the container of Blosc; nil: it has no compressor
}

// form returns the form of the chunk. If there is no chunk, the error is fs.ErrNotExist.
func (c omeChunk) form(snap *snapshot) (f chunkForm, err error) {
	f.array = newOMEArray(snap)
	f.box = f.array.voxels(c.at)
	if c.channel >= f.array.channels || !f.array.extent.Contains(f.box.Min) {
		return f, fs.ErrNotExist
	}
	if exists, err := snap.Has(f.box.Intersect(snap.Bounds())); err != nil || !exists {
		return f, orAbsent(err)
	}
	if f.array.blosc {
		f.column, err = newColumn(context.Background(), snap, f.box)
	}
	return f, err
}

// orAbsent returns fs.ErrNotExist if there is no error.
func orAbsent(err error) error {
	if err == nil {
		return fs.ErrNotExist
	}
	return err
}

// size returns the length of the file, in bytes.
func (f chunkForm) size(g volume.Grid) int64 {
	if f.column != nil {
		return omezarr.ContainerSize(f.column.sizes)
	}
	return int64(g.Type.Size()) * int64(f.array.chunk[0]) * int64(f.array.chunk[1]) * int64(f.array.chunk[2])
}

// stored returns the part of the source that the chunk is made of, in bytes. It is exact for blocks that are given out
// as they are stored.
func (f chunkForm) stored(snap *snapshot) int64 {
	if f.column != nil {
		if n, ok := f.column.stored(); ok {
			return n
		}
	}
	return snap.Share(f.box) / int64(f.array.channels)
}

func (c omeChunk) stat() (fs.FileInfo, error) {
	snap, err := c.l.d.snapshot()
	if err != nil {
		return nil, err
	}
	f, err := c.form(snap)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, vfs.ErrChanged) { // cubes may have changed since the snapshot
		if snap, err = c.l.d.currentSnapshot(&f.box); err != nil {
			return nil, err
		}
		f, err = c.form(snap)
	}
	if err != nil {
		return nil, err
	}
	return c.info(snap, f)
}

func (c omeChunk) info(snap *snapshot, f chunkForm) (info, error) {
	source, err := snap.Info()
	if err != nil {
		return info{}, err
	}
	i := fileInfo(strconv.Itoa(c.at[0]), f.size(snap.Cube()), source)
	i.version, i.stored = snap.fileVersion(), f.stored(snap)
	return i, nil
}

func (c omeChunk) open() (fs.File, error) {
	snap, err := c.l.d.snapshot()
	if err != nil {
		return nil, err
	}
	box := newOMEArray(snap).voxels(c.at)
	if snap, err = c.l.d.currentSnapshot(&box); err != nil {
		return nil, err
	}
	f, err := c.form(snap)
	if err != nil {
		return nil, err
	}
	i, err := c.info(snap, f)
	if err != nil {
		return nil, err
	}
	snap.Open()
	return c.openVoxels(snap, f, i), nil
}

// openVoxels opens a chunk of an open snapshot.
func (c omeChunk) openVoxels(snap *snapshot, f chunkForm, i info) fs.File {
	newReader := func() *prefetch.Reader {
		return c.l.d.fsys.prefetch.NewReader(snap.array(f.box, 0), prefetch.HintOnce)
	}
	switch {
	case f.column != nil:
		return newWholeFile(i, func(ctx context.Context, content []byte) error {
			return f.column.read(ctx, content, snap, newReader)
		}, snap.Close)
	case f.array.channels == 1:
		return newFile(i, header.Layout{}, arrayReader{newReader()}, snap.Close)
	}
	r := newReader()
	return newWholeFile(i, func(ctx context.Context, content []byte) error {
		return c.readChannel(ctx, content, r, snap.Cube())
	}, func() {
		r.Close()
		snap.Close()
	})
}

// readChannel fills content with the values of the channel of the chunk, of which r reads the voxels.
func (c omeChunk) readChannel(ctx context.Context, content []byte, r *prefetch.Reader, g volume.Grid) error {
	voxels := make([]byte, r.Array().Size())
	if _, err := r.ReadAt(ctx, voxels, 0); err != nil {
		return err
	}
	appendChannel(content[:0], voxels, c.channel, g.Channels, g.Type.Size())
	return nil
}
