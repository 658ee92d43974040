package hdfsource

import (
	"context"
	"fmt"
	"io"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// chunks are the pieces of a dataset, in the order of the file: slowest axis first.
type chunks interface {
	// shape returns the size of a piece, in values.
	shape() []int
	// read reads the piece at a position, counted in pieces, into memory of its bytes. It returns nil, and does not
	// call memory, if the piece was never written.
	read(ctx context.Context, f *opened, at []uint64, memory func() []byte) ([]byte, error)
}

// pieceBytes is the size of a piece of a dataset without chunks.
const pieceBytes = 64 << 10

// chunksOf returns the pieces of a dataset.
func chunksOf(d *hdf5.Dataset, pieceBytes int) (chunks, error) {
	switch d.Layout() {
	case hdf5.Chunked:
		index, err := d.Chunks()
		if err != nil {
			return nil, err
		}
		return chunked{d, index}, nil
	case hdf5.Compact, hdf5.Contiguous:
		return newFlat(d, pieceBytes), nil
	}
	return nil, &hdf5.NotSupportedError{Path: d.Path(), What: d.Layout().String() + " layout"}
}

// chunked are the chunks of a dataset.
type chunked struct {
	*hdf5.Dataset
	index *hdf5.ChunkIndex
}

func (c chunked) shape() []int { return ints(c.ChunkShape()) }

func (c chunked) read(ctx context.Context, f *opened, at []uint64, memory func() []byte) ([]byte, error) {
	chunk, ok, err := c.index.Lookup(at)
	if err != nil || !ok {
		return nil, err
	}
	stored := scratch.Get(int(chunk.Size))
	defer scratch.Put(stored)
	if err := vfs.ReadFull(ctx, f.handle, *stored, chunk.Offset); err != nil {
		return nil, err
	}
	dst := memory()
	return dst, c.DecodeChunk(dst, *stored, chunk.FilterMask)
}

// flat are pieces of a dataset whose values follow each other: parts of one axis, and all of the faster axes.
type flat struct {
	*hdf5.Dataset
	piece []int
	axis  int // that the pieces divide
}

func newFlat(d *hdf5.Dataset, pieceBytes int) flat {
	f := flat{d, ints(d.Shape()), 0}
	bytes := d.Type().Size
	for axis := len(f.piece) - 1; axis >= 0; axis-- {
		f.axis = axis
		if n := f.piece[axis]; bytes*n > pieceBytes {
			f.piece[axis] = max(1, pieceBytes/bytes)
			for slower := range axis {
				f.piece[slower] = 1
			}
			break
		}
		bytes *= f.piece[axis]
	}
	return f
}

func (f flat) shape() []int { return f.piece }

func (f flat) read(ctx context.Context, o *opened, at []uint64, memory func() []byte) ([]byte, error) {
	size := int64(f.Type().Size)
	start, step := int64(0), size
	for axis, n := range f.Shape() {
		start = start*int64(n) + int64(at[axis])*int64(f.piece[axis])
	}
	for _, n := range f.piece[f.axis+1:] {
		step *= int64(n)
	}
	first := int64(at[f.axis]) * int64(f.piece[f.axis])
	bytes := min(int64(f.piece[f.axis]), int64(f.Shape()[f.axis])-first) * step
	if f.Layout() == hdf5.Compact {
		b := f.Compact()
		if start*size+bytes > int64(len(b)) {
			return nil, fmt.Errorf("%s: %d values: expected %d bytes, found %d", f.Path(), product(ints(f.Shape())),
				start*size+bytes, len(b))
		}
		dst := memory()
		clear(dst[copy(dst[:bytes], b[start*size:]):])
		return dst, nil
	}
	offset, all, ok := f.Contiguous()
	if !ok {
		return nil, nil
	}
	if start*size+bytes > all {
		return nil, fmt.Errorf("%s: values at byte %d: expected %d bytes, found %d: %w", f.Path(), offset,
			start*size+bytes, all, io.ErrUnexpectedEOF)
	}
	dst := memory()
	clear(dst[bytes:])
	if err := vfs.ReadFull(ctx, o.handle, dst[:bytes], offset+start*size); err != nil {
		return nil, fmt.Errorf("%s: values at byte %d: %w", f.Path(), offset+start*size, err)
	}
	return dst, nil
}

func ints(all []uint64) []int {
	n := make([]int, len(all))
	for i, v := range all {
		n[i] = int(v)
	}
	return n
}

func product(all []int) int {
	p := 1
	for _, n := range all {
		p *= n
	}
	return p
}
