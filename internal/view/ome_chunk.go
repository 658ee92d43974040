package view

import (
	"context"
	"errors"
	"io/fs"
	"strconv"

	"github.com/wkwfs/wkwfs/internal/header"
	"github.com/wkwfs/wkwfs/internal/omezarr"
	"github.com/wkwfs/wkwfs/internal/prefetch"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// omeChunk is a chunk of an array of OME-Zarr. It has one channel. The file does not exist if no cube has a voxel of it.
type omeChunk struct {
	l       omeLevel
	channel int
	at      volume.Vec // in chunks
}

// chunkForm is how a chunk is stored in a snapshot.
type chunkForm struct {
	array   omeArray
	box     volume.Box // absolute voxels of the mag
	decoded int64      // length without compression, in bytes
	lz4     int64      // length of the LZ4 block that the chunk has as it is stored, in bytes; 0: none
}

// form returns the form of the chunk. If there is no chunk, the error is fs.ErrNotExist.
func (c omeChunk) form(snap *snapshot) (f chunkForm, err error) {
	f.array = newOMEArray(snap)
	f.box = f.array.voxels(c.at)
	if c.channel >= f.array.channels || !f.box.Min.Sub(f.array.extent.Min).In(f.array.extent.Size()) {
		return f, fs.ErrNotExist
	}
	if exists, err := snap.Has(f.box.Intersect(snap.Bounds())); err != nil || !exists {
		return f, orAbsent(err)
	}
	f.decoded = int64(snap.Cube().Type.Size()) * int64(f.array.chunk[0]) * int64(f.array.chunk[1]) * int64(f.array.chunk[2])
	if !f.array.blosc || f.box.Min.Max(snap.Bounds().Min) != f.box.Min {
		return f, nil // voxels before the start of the layer are zeros, whatever the block has
	}
	n, err := snap.LZ4Size(context.Background(), c.block(snap, f))
	if _, ok := omezarr.LZ4Size(f.decoded, n); ok {
		f.lz4 = n
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

// block returns the position of the chunk in the blocks of the snapshot.
func (c omeChunk) block(snap *snapshot, f chunkForm) volume.Vec {
	return snap.Local(f.box).Min.Div(f.array.chunk)
}

// size returns the length of the file, in bytes.
func (f chunkForm) size() int64 {
	switch {
	case !f.array.blosc:
		return f.decoded
	case f.lz4 == 0:
		return omezarr.StoredSize(f.decoded)
	}
	size, _ := omezarr.LZ4Size(f.decoded, f.lz4)
	return size
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
	i := fileInfo(strconv.Itoa(c.at[0]), f.size(), source)
	i.version, i.stored = snap.fileVersion(), snap.Share(f.box)/int64(f.array.channels)
	if f.lz4 > 0 {
		i.stored = f.lz4
	}
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
	if f.lz4 > 0 {
		return newWholeFile(i, func(ctx context.Context) ([]byte, error) { return c.envelope(ctx, snap, f) }, snap.Close), nil
	}
	return c.openDecoded(snap, f, i), nil
}

// envelope returns the LZ4 block of the chunk in the container of Blosc.
func (c omeChunk) envelope(ctx context.Context, snap *snapshot, f chunkForm) ([]byte, error) {
	b := make([]byte, 0, f.size())
	b = omezarr.AppendLZ4Head(b, int(f.decoded), snap.Cube().Type.Size(), int(f.lz4))
	return snap.AppendLZ4(ctx, b, c.block(snap, f))
}

// openDecoded opens the chunk without compression.
func (c omeChunk) openDecoded(snap *snapshot, f chunkForm, i info) fs.File {
	var head []byte
	value := snap.Cube().Type.Size()
	if f.array.blosc {
		head = omezarr.StoredHead(int(f.decoded), value)
	}
	r := c.l.d.fsys.prefetch.NewReader(snap.array(f.box, len(head)), prefetch.HintOnce)
	if f.array.channels == 1 {
		return newFile(i, header.Layout{Head: head}, r, snap.Close)
	}
	return newWholeFile(i, func(ctx context.Context) ([]byte, error) {
		voxels := make([]byte, r.Array().Size())
		if _, err := r.ReadAt(ctx, voxels, 0); err != nil {
			return nil, err
		}
		return appendChannel(make([]byte, 0, f.decoded), voxels, c.channel, f.array.channels, value), nil
	}, func() {
		r.Close()
		snap.Close()
	})
}
