package mosaic

import (
	"io"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/internal/flat"
	"github.com/wkwfs/wkwfs/internal/parallel"
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

// row is the numbers in a directory of the index, or why it cannot be listed.
type row struct {
	numbers []int
	err     error
}

func (i *cubeIndex) fill() error {
	i.once.Do(func() {
		i.ys = map[int][]int{}
		if i.zs, i.err = i.mag.Cubes(); i.err != nil {
			return
		}
		for z, ys := range parallel.Each(i.zs, func(z int) row { ys, err := i.mag.Cubes(z); return row{ys, err} }) {
			if i.ys[z], i.err = ys.numbers, ys.err; i.err != nil {
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

// Holes returns the holes of an array of the mosaic.
func (m *Mosaic) Holes(a *flat.Array) *Holes {
	return &Holes{a, &m.index, m.cube.Size}
}

// Holes are the holes of a flat box of a mosaic: the rows of voxels that no cube
// touches, on any x, and what lies outside of the bounding box on y and z. Gaps
// between cubes of a row are not reported, nor holes of less than minHole: to skip
// them costs more than to read zeros.
type Holes struct {
	array *flat.Array
	index *cubeIndex
	side  volume.Vec // of a cube, in voxels
}

// minHole is the length, in bytes, from which a hole is reported.
const minHole = 64 << 10

// SeekData returns the first byte ≥ off that is not in a hole; io.EOF where all that
// follows is one.
func (h Holes) SeekData(off int64) (int64, error) {
	if err := h.index.fill(); err != nil {
		return 0, err
	}
	data, err := h.nextRow(off)
	if err == nil && data-off < minHole {
		return off, nil
	}
	return data, err
}

// SeekHole returns the first byte ≥ off that is in a hole, or the size.
func (h Holes) SeekHole(off int64) (int64, error) {
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
func (h Holes) nextRow(off int64) (int64, error) {
	a := h.array
	for off < a.Size() {
		y, z := a.RowAt(off)
		nz, ok := h.following(h.index.zs, z, 2)
		if !ok {
			return 0, io.EOF
		}
		if nz > z {
			off = rowOffset(a, a.Box().Min[1], nz)
			continue
		}
		ny, ok := h.following(h.index.ys[z/h.side[2]], y, 1)
		switch {
		case !ok:
			off = rowOffset(a, a.Box().Min[1], z+1)
		case ny > y:
			return rowOffset(a, ny, z), nil
		default:
			return off, nil
		}
	}
	return 0, io.EOF
}

// nextGap returns the first byte ≥ off of a row without a cube, or the size.
func (h Holes) nextGap(off int64) int64 {
	a := h.array
	for off < a.Size() {
		y, z := a.RowAt(off)
		if nz, ok := h.following(h.index.zs, z, 2); !ok || nz > z {
			return off
		}
		ys := h.index.ys[z/h.side[2]]
		if ny, ok := h.following(ys, y, 1); !ok || ny > y {
			return off
		}
		end := min(gap(ys, y/h.side[1])*h.side[1], a.Valid().Max[1], a.Box().Max[1])
		if end < a.Box().Max[1] {
			return rowOffset(a, end, z)
		}
		off = rowOffset(a, a.Box().Min[1], z+1)
	}
	return a.Size()
}

// following returns the first voxel ≥ at, on an axis, that lies in the valid part and
// in a cube of the list.
func (h Holes) following(list []int, at, axis int) (int, bool) {
	at = max(at, h.array.Valid().Min[axis])
	c, ok := next(list, at/h.side[axis])
	at = max(at, c*h.side[axis])
	return at, ok && at < min(h.array.Valid().Max[axis], h.array.Box().Max[axis])
}

// rowOffset returns the first byte of a row of the array.
func rowOffset(a *flat.Array, y, z int) int64 {
	return a.Offset(volume.Vec{a.Box().Min[0], y, z})
}
