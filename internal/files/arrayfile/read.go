package arrayfile

import (
	"context"
	"fmt"
	"io"

	"github.com/wkwfs/wkwfs/volume"
)

// Read reads a box, in voxels of the array, into dst. dst must have the bytes of the box. It gets the voxels in Fortran
// order (x fastest) with interleaved channels and little-endian values.
//
// Unless Sequential, any number of goroutines may read any boxes. A Sequential array is one compressed stream. Its
// boxes must be whole rows in the order of the file, each at most once. Read skips what lies between two boxes.
func (a *Array) Read(ctx context.Context, box volume.Box, dst []byte) error {
	if box.Empty() || box.Intersect(volume.Box{Max: a.Grid.Size}) != box {
		return fmt.Errorf("%s: box %v: expected a part of %v voxels", a.Name(), box, a.Grid.Size)
	}
	size := box.Size()
	if want := a.Grid.VoxelBytes() * size[0] * size[1] * size[2]; len(dst) != want {
		return fmt.Errorf("%s: box %v: expected memory of %d bytes, found %d", a.Name(), box, want, len(dst))
	}
	return a.voxels.read(ctx, box, dst)
}

// Sequential reports whether the array must be read in the order of the file.
func (a *Array) Sequential() bool {
	f, ok := a.voxels.(flat)
	return ok && f.sequential
}

// WholePlanes reports whether a read decodes whole planes, whatever its box. Boxes of whole planes are fastest then.
func (a *Array) WholePlanes() bool {
	v := a.voxels
	if t, ok := v.(turned); ok {
		v = t.voxels
	}
	p, ok := v.(*planes)
	return ok && p.whole
}

// flat is voxels that lie one after the other in Fortran order.
type flat struct {
	io.ReaderAt
	name       string
	offset     int64 // of the first voxel, in bytes
	size       volume.Vec
	value      int // bytes of a stored value
	channels   int
	swapped    bool // values are stored as big-endian
	half       bool // values are stored as float16, and read as float32
	sequential bool
	packed     *unpacked // the ReaderAt, if it unpacks a stream
	limits
}

func (f flat) read(ctx context.Context, box volume.Box, dst []byte) error {
	step, run := runs(box, f.size)
	if f.sequential && box.Size()[0] < f.size[0] {
		return fmt.Errorf("%s: box %v: expected whole rows of %d voxels", f.name, box, f.size[0])
	}
	stored := dst
	if f.half {
		stored = dst[len(dst)/2:]
	}
	rest, voxel := stored, f.value*f.channels
	run *= voxel
	rows := f.together(box)
	step[1] *= rows
	for z := box.Min[2]; z < box.Max[2]; z += step[2] {
		for y := box.Min[1]; y < box.Max[1]; y += step[1] {
			if err := ctx.Err(); err != nil {
				return err
			}
			first := volume.Vec{box.Min[0], y, z}
			at := f.offset + int64(first.Index(f.size))*int64(voxel)
			n := run * min(rows, box.Max[1]-y)
			read, err := f.readRuns(rest[:n], run, at)
			if f.sequential && err != nil {
				return err // has file and offset
			}
			if read < n {
				return unreadable(f.name, fmt.Sprintf("voxels from %v", first), at, noEOF(err))
			}
			rest = rest[n:]
		}
	}
	if f.swapped {
		swap(stored, f.value)
	}
	if f.half {
		widen(dst)
	}
	return nil
}

// together returns how many rows of a box are read at a time, because less time is needed to read what lies between
// them than to ask again.
func (f flat) together(box volume.Box) int {
	voxel := f.value * f.channels
	row, gap := f.size[0]*voxel, (f.size[0]-box.Size()[0])*voxel
	if gap == 0 || gap > f.gap || f.sequential {
		return 1
	}
	return max(1, f.span/row)
}

// readRuns reads runs of bytes, each at the distance of a row, from an offset on. It returns how many bytes of the runs
// it has read.
func (f flat) readRuns(dst []byte, run int, at int64) (int, error) {
	if len(dst) == run {
		return f.ReadAt(dst, at)
	}
	row := f.size[0] * f.value * f.channels
	span := scratch((len(dst)/run-1)*row + run)
	defer recycle(span)
	if n, err := f.ReadAt(span, at); n < len(span) {
		return 0, err
	}
	for i := 0; len(dst) > 0; i += row {
		copy(dst[:run], span[i:])
		dst = dst[run:]
	}
	return len(span), nil
}

// bytes returns the size of the stored voxels.
func (f flat) bytes() int64 {
	return int64(f.value*f.channels) * int64(f.size[0]) * int64(f.size[1]) * int64(f.size[2])
}

// runs splits a box of an array of the given size into runs of adjacent voxels: a row of the box, rows of a plane, or
// planes. A run starts every step[1] rows and step[2] planes, and has length voxels.
func runs(box volume.Box, size volume.Vec) (step volume.Vec, length int) {
	n := box.Size()
	switch {
	case n[0] < size[0]:
		return volume.Vec{n[0], 1, 1}, n[0]
	case n[1] < size[1]:
		return volume.Vec{n[0], n[1], 1}, n[0] * n[1]
	}
	return n, n[0] * n[1] * n[2]
}

// noEOF returns io.ErrUnexpectedEOF for io.EOF, else err.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
