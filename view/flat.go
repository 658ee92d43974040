package view

import (
	"context"
	"io"
	"io/fs"

	"github.com/wkwfs/wkwfs/volume"
)

// Flat is a box of a source laid out as one array in Fortran order: byte
// v·(x + X·(y + Y·z)) is the first of voxel x, y, z of the box, v the bytes of a
// voxel. Where the box sticks out of the part of the source that counts, or a block
// was never written, the bytes are zero. A Flat is immutable and safe for concurrent
// use.
type Flat struct {
	src   volume.Source
	grid  volume.Grid
	box   volume.Box // in voxels of the source
	valid volume.Box // the part of the source that counts, likewise
	voxel int64      // bytes of a voxel, of a row of the box and of a plane
	row   int64
	plane int64
	size  int64
}

// NewFlat lays out the box, which is in voxels of the source and not empty. Its
// bytes must be fewer than 2^63 (volume.Grid.Validate). All of the source counts.
func NewFlat(src volume.Source, box volume.Box) *Flat {
	return newFlat(src, box, volume.Box{Max: src.Grid().Size})
}

// newFlat is NewFlat with zeros outside of valid, which lies inside the source.
func newFlat(src volume.Source, box, valid volume.Box) *Flat {
	g := src.Grid()
	f := &Flat{src: src, grid: g, box: box, valid: valid, voxel: int64(g.VoxelBytes())}
	size := box.Size()
	f.row = f.voxel * int64(size[0])
	f.plane = f.row * int64(size[1])
	f.size = f.plane * int64(size[2])
	return f
}

// Size returns the bytes of the array.
func (f *Flat) Size() int64 { return f.size }

// ReadAtContext follows io.ReaderAt, and returns early when ctx is done. A read
// succeeds whole or not at all: on an error other than io.EOF n is 0.
func (f *Flat) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	switch {
	case off < 0:
		return 0, fs.ErrInvalid
	case off >= f.size:
		return 0, io.EOF
	}
	var eof error
	if int64(len(p)) > f.size-off {
		p, eof = p[:f.size-off], io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	if err := f.fill(ctx, p, off); err != nil {
		return 0, err
	}
	return len(p), eof
}

// fill reads a range that lies in the array.
func (f *Flat) fill(ctx context.Context, p []byte, off int64) error {
	if first := f.split(off, int64(len(p))); first > 0 {
		if err := f.fill(ctx, p[:first], off); err != nil {
			return err
		}
		return f.fill(ctx, p[first:], off+first)
	}
	return f.newRequest(p, off).fill(ctx)
}

// split returns how many bytes of a range should be read by themselves, or 0. A range
// that runs from the end of a plane or row over to the begin of the next has little of
// both, but the box that holds it has all their blocks, which can be millions.
func (f *Flat) split(off, n int64) int64 {
	last := off + n - 1
	apart := func(axis int, unit, length int64) bool {
		side, lo := volume.Cube(f.grid.Block[axis]), int64(f.box.Min[axis])
		begin, end := volume.Vec{int(lo + off%length/unit)}, volume.Vec{int(lo + last%length/unit)}
		return n < length && off/length != last/length && end.Div(side)[0] < begin.Div(side)[0]
	}
	switch inRow, inPlane := apart(0, f.voxel, f.row), apart(1, f.row, f.plane); {
	case (inRow || inPlane) && off/f.plane != last/f.plane:
		return f.plane - off%f.plane
	case inRow:
		return f.row - off%f.row
	}
	return 0
}

// request is one range of bytes to be read.
type request struct {
	*Flat
	p          []byte
	begin, end int64      // p is [begin, end) of the array, not empty
	bounds     volume.Box // holds every voxel of it, in voxels of the source
}

// newRequest finds the bounds: exact on z, on y if the range is in one plane and on x
// if it is in one row.
func (f *Flat) newRequest(p []byte, off int64) request {
	begin, last := off, off+int64(len(p))-1
	voxels := volume.Box{Max: f.box.Size()}
	if voxels.Min[2], voxels.Max[2] = int(begin/f.plane), int(last/f.plane)+1; voxels.Size()[2] == 1 {
		begin, last = begin%f.plane, last%f.plane
		if voxels.Min[1], voxels.Max[1] = int(begin/f.row), int(last/f.row)+1; voxels.Size()[1] == 1 {
			voxels.Min[0], voxels.Max[0] = int(begin%f.row/f.voxel), int(last%f.row/f.voxel)+1
		}
	}
	bounds := volume.Box{Min: voxels.Min.Add(f.box.Min), Max: voxels.Max.Add(f.box.Min)}
	return request{f, p, off, off + int64(len(p)), bounds}
}

// fill reads the whole request, a few neighbouring blocks at a time, on all cores.
func (r request) fill(ctx context.Context) error {
	blocks := volume.Box{Min: r.bounds.Min.Div(r.grid.Block), Max: r.bounds.Max.CeilDiv(r.grid.Block)}
	side := batch(r.grid.BlockBytes())
	batches := volume.Box{Min: blocks.Min.Div(side), Max: blocks.Max.CeilDiv(side)}
	n := batches.Size()
	return parallel(n[0]*n[1]*n[2], func(i int) error {
		at := batches.Min.Add(volume.Vec{i % n[0], i / n[0] % n[1], i / n[0] / n[1]}).Mul(side)
		return r.fillBlocks(ctx, blocks.Intersect(volume.Box{Min: at, Max: at.Add(side)}))
	})
}

// batch returns how many blocks of so many bytes one worker takes at once, on each axis. They
// are some that follow each other in the file, and enough on x that two workers seldom write to
// the same cache line; but a reader has to wait for all of them. They are of one layer: with room
// for little more than a layer, the last voxels of one are read before the first of the next.
func batch(bytes int) volume.Vec {
	const most = 1 << 20
	side := volume.Vec{4, 2, 1}
	for axis := 1; axis >= 0; axis-- {
		for side[axis] > 1 && side[0]*side[1]*bytes > most {
			side[axis] /= 2
		}
	}
	return side
}

// fillBlocks copies what the request wants of some blocks.
func (r request) fillBlocks(ctx context.Context, blocks volume.Box) error {
	var wanted []volume.Vec
	for b := range blocks.All() {
		part, valid := r.parts(b)
		switch {
		case !r.touches(part):
		case valid.Empty() || valid != part && !r.touches(valid):
			r.clear(part)
		default:
			wanted = append(wanted, b)
		}
	}
	return volume.ReadBlocks(ctx, r.src, wanted, r.place)
}

// parts returns what of a block is in the bounds of the request, and what of that counts.
func (r request) parts(b volume.Vec) (part, valid volume.Box) {
	lo := b.Mul(r.grid.Block)
	part = volume.Box{Min: lo, Max: lo.Add(r.grid.Block)}.Intersect(r.bounds)
	return part, part.Intersect(r.valid)
}

// touches reports whether the request holds a byte of the part of the box.
func (r request) touches(part volume.Box) bool {
	found := false
	r.runs(part, func(_ int64, _ volume.Vec, _ int) bool { found = true; return false })
	return found
}

// clear writes zeros to the part of the box.
func (r request) clear(part volume.Box) {
	r.runs(part, func(at int64, _ volume.Vec, n int) bool { clear(r.p[at : at+int64(n)]); return true })
}

// runs yields the runs of bytes along x of a part of the box that the request holds:
// where in p, from which voxel on and how many bytes. The first may begin, and the
// last end, inside a voxel.
func (r request) runs(part volume.Box, yield func(at int64, voxel volume.Vec, n int) bool) {
	length := int64(part.Max[0]-part.Min[0]) * r.voxel
	for z := part.Min[2]; z < part.Max[2]; z++ {
		for y := part.Min[1]; y < part.Max[1]; y++ {
			start := r.offset(volume.Vec{part.Min[0], y, z})
			if start >= r.end {
				return
			}
			lo, hi := max(start, r.begin), min(start+length, r.end)
			if lo < hi && !yield(lo-r.begin, volume.Vec{part.Min[0] + int((lo-start)/r.voxel), y, z}, int(hi-lo)) {
				return
			}
		}
	}
}

// place writes what the request wants of block b, of which it wants something.
func (r request) place(b volume.Vec, block []byte) {
	part, valid := r.parts(b)
	if block == nil || valid != part {
		r.clear(part)
	}
	if block != nil && !valid.Empty() {
		r.copy(valid, block, b.Mul(r.grid.Block))
	}
}

// copy copies the part of the box out of its block, which begins at voxel lo.
func (r request) copy(part volume.Box, data []byte, lo volume.Vec) {
	size := part.Size()
	length := r.voxel * int64(size[0])
	blockRow := r.voxel * int64(r.grid.Block[0])
	blockPlane := blockRow * int64(r.grid.Block[1])
	// Plain numbers, from plane to plane: vectors would be put together in memory, where a
	// processor waits with reading them until the voxels before are written.
	at := r.offset(part.Min)                                     // in the array
	src := r.voxel * int64(part.Min.Sub(lo).Index(r.grid.Block)) // in the block
	ahead := blockPlane
	if size[2] == 1 {
		ahead = 0
	}
	for range size[2] {
		r.copyPlane(at, data[src:], length, size[1], blockRow, ahead)
		at += r.plane
		src += blockPlane
	}
}

// copyPlane copies rows of a block, so many bytes of each, to their places from one in the array on. What is
// to be copied next lies so many bytes ahead in memory. Rows that the request cuts are rare: they go one by one.
func (r request) copyPlane(at int64, data []byte, length int64, rows int, blockRow, ahead int64) {
	if at >= r.begin && at+int64(rows-1)*r.row+length <= r.end {
		copyRows(r.p[at-r.begin:], data, int(length), rows, int(r.row), int(blockRow), int(ahead))
	} else {
		r.copyCut(at, data, length, rows, blockRow)
	}
}

// copyCut copies as much as the request holds of rows that begin at a place in the array.
func (r request) copyCut(at int64, data []byte, length int64, rows int, blockRow int64) {
	for i := range int64(rows) {
		row := at + i*r.row
		if begin, end := max(row, r.begin), min(row+length, r.end); begin < end {
			copy(r.p[begin-r.begin:end-r.begin], data[i*blockRow+begin-row:])
		}
	}
}

// offset returns the place in the array of a voxel of the box.
func (f *Flat) offset(v volume.Vec) int64 {
	v = v.Sub(f.box.Min)
	return int64(v[0])*f.voxel + int64(v[1])*f.row + int64(v[2])*f.plane
}
