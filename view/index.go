package view

import (
	"io"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/volume"
)

// cubeIndex knows which rows of cubes of a mag have any, for the holes of flat
// files. It is filled when it is first asked.
type cubeIndex struct {
	mag  volume.Mag
	once sync.Once
	err  error
	zs   []int         // rising
	ys   map[int][]int // of each z, rising
}

func (i *cubeIndex) fill() error {
	i.once.Do(func() {
		i.ys = map[int][]int{}
		if i.zs, i.err = i.mag.Cubes(); i.err != nil {
			return
		}
		for _, z := range i.zs {
			if i.ys[z], i.err = i.mag.Cubes(z); i.err != nil {
				return
			}
		}
	})
	return i.err
}

// next returns the first number ≥ n in a rising list; false where there is none.
func next(list []int, n int) (int, bool) {
	at, _ := slices.BinarySearch(list, n)
	if at == len(list) {
		return 0, false
	}
	return list[at], true
}

// gap returns the first number ≥ n that is not in a rising list.
func gap(list []int, n int) int {
	at, _ := slices.BinarySearch(list, n)
	for ; at < len(list) && list[at] == n; at++ {
		n++
	}
	return n
}

// holes are the holes of a flat box of a mosaic: the rows of voxels that no cube
// touches, on any x, and what lies outside of the bounding box on y and z. Gaps
// between cubes of a row are not reported, nor holes of less than minHole: to skip
// them costs more than to read zeros.
type holes struct {
	flat  *Flat
	index *cubeIndex
	side  volume.Vec // of a cube, in voxels
}

// minHole is the length, in bytes, from which a hole is reported.
const minHole = 64 << 10

// seekData returns the first byte ≥ off that is not in a hole; io.EOF where all that
// follows is one.
func (h holes) seekData(off int64) (int64, error) {
	if err := h.index.fill(); err != nil {
		return 0, err
	}
	data, err := h.nextRow(off)
	if err == nil && data-off < minHole {
		return off, nil
	}
	return data, err
}

// seekHole returns the first byte ≥ off that is in a hole, or the size.
func (h holes) seekHole(off int64) (int64, error) {
	if err := h.index.fill(); err != nil {
		return 0, err
	}
	for {
		hole := h.nextGap(off)
		data, err := h.nextRow(hole)
		if err == io.EOF || data-hole >= minHole {
			return hole, nil
		}
		off = data
	}
}

// nextRow returns the first byte ≥ off of a row with a cube; io.EOF if there is none.
func (h holes) nextRow(off int64) (int64, error) {
	f := h.flat
	for off < f.size {
		y, z := h.row(off)
		nz, ok := h.following(h.index.zs, z, 2)
		if !ok {
			return 0, io.EOF
		}
		if nz > z {
			off = f.rowOffset(f.box.Min[1], nz)
			continue
		}
		ny, ok := h.following(h.index.ys[z/h.side[2]], y, 1)
		switch {
		case !ok:
			off = f.rowOffset(f.box.Min[1], z+1)
		case ny > y:
			return f.rowOffset(ny, z), nil
		default:
			return off, nil
		}
	}
	return 0, io.EOF
}

// nextGap returns the first byte ≥ off of a row without a cube, or the size.
func (h holes) nextGap(off int64) int64 {
	f := h.flat
	for off < f.size {
		y, z := h.row(off)
		if nz, ok := h.following(h.index.zs, z, 2); !ok || nz > z {
			return off
		}
		ys := h.index.ys[z/h.side[2]]
		if ny, ok := h.following(ys, y, 1); !ok || ny > y {
			return off
		}
		end := min(gap(ys, y/h.side[1])*h.side[1], f.valid.Max[1], f.box.Max[1])
		if end < f.box.Max[1] {
			return f.rowOffset(end, z)
		}
		off = f.rowOffset(f.box.Min[1], z+1)
	}
	return f.size
}

// following returns the first voxel ≥ at, on an axis, that lies in the valid part and
// in a cube of the list.
func (h holes) following(list []int, at, axis int) (int, bool) {
	at = max(at, h.flat.valid.Min[axis])
	c, ok := next(list, at/h.side[axis])
	at = max(at, c*h.side[axis])
	return at, ok && at < min(h.flat.valid.Max[axis], h.flat.box.Max[axis])
}

// row returns y and z, in voxels of the source, of the row that byte off lies in.
func (h holes) row(off int64) (y, z int) {
	f := h.flat
	return int(off%f.plane/f.row) + f.box.Min[1], int(off/f.plane) + f.box.Min[2]
}

// rowOffset returns the first byte of a row of the box.
func (f *Flat) rowOffset(y, z int) int64 {
	return f.offset(volume.Vec{f.box.Min[0], y, z})
}
