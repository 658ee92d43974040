package mosaic

import (
	"io"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/volume"
)

// cubeIndex lists the rows of a mag that have cubes. It is read from the source at the first call of load.
type cubeIndex struct {
	mag  volume.Mag
	most int // rows: see limits
	once sync.Once
	zs   numbers
	ys   map[int]numbers // by z
}

// numbers is a set of positions of cubes on an axis.
type numbers struct {
	sorted []int // ascending
	all    bool  // every position
}

// load reads the index from the source, once. A directory that cannot be listed may have a cube at every position: its
// rows are errors, and no holes.
func (i *cubeIndex) load() {
	i.once.Do(func() {
		i.zs = numbers{all: true} // also after a panic: what was not listed is no hole
		zs, ys, rows := i.list(), map[int]numbers{}, 0
		for z, ofZ := range parallel.Each(zs.sorted, func(z int) numbers { return i.list(z) }) {
			ys[z] = ofZ
			if rows += len(ofZ.sorted); rows > i.most {
				return
			}
		}
		i.zs, i.ys = zs, ys
	})
}

// list lists a directory of the index of cubes, if it has at most that many entries.
func (i *cubeIndex) list(zy ...int) numbers {
	var found []int
	for piece, err := range volume.ListCubes(i.mag, zy...) {
		if found = append(found, piece...); err != nil || len(found) > i.most {
			return numbers{all: true}
		}
	}
	slices.Sort(found)
	return numbers{sorted: found}
}

// rows returns the y of the cubes at z.
func (i *cubeIndex) rows(z int) numbers {
	if i.zs.all {
		return numbers{all: true}
	}
	return i.ys[z]
}

// from returns the first number ≥ n, or false.
func (l numbers) from(n int) (int, bool) {
	at, _ := slices.BinarySearch(l.sorted, n)
	switch {
	case l.all:
		return n, true
	case at == len(l.sorted):
		return 0, false
	}
	return l.sorted[at], true
}

// firstMissing returns the first number ≥ n, and at most limit, that is not in the set.
func (l numbers) firstMissing(n, limit int) int {
	if l.all {
		return limit
	}
	at, _ := slices.BinarySearch(l.sorted, n)
	for ; at < len(l.sorted) && l.sorted[at] == n; at++ {
		n++
	}
	return min(n, limit)
}

// Holes returns the holes of an array that [Mosaic.Flat] returned.
func (m *Mosaic) Holes(a *flat.Array) *Holes {
	return &Holes{a, &m.index, m.cube.Size, m.surveyor.limits.hole}
}

// Holes finds the holes of a flat box of a mosaic. A hole is a range of rows that no cube has at any x, or that lie
// outside of the bounding box. Gaps between the cubes of a row are not reported, and neither are short
// holes: skipping them costs more than reading zeros. A mag of very many rows has no holes. Offsets are in bytes
// of the array.
type Holes struct {
	array *flat.Array
	index *cubeIndex
	side  volume.Vec // of a cube, in voxels
	least int64      // bytes of a hole: see limits
}

// SeekData returns the first offset ≥ off that is not in a hole. It returns io.EOF if the rest is a hole.
func (h Holes) SeekData(off int64) (int64, error) {
	h.index.load()
	data, err := h.nextRow(off)
	if err == nil && data-off < h.least {
		return off, nil
	}
	return data, err
}

// SeekHole returns the first offset ≥ off that is in a hole, or the size of the array.
func (h Holes) SeekHole(off int64) (int64, error) {
	h.index.load()
	for {
		hole := h.nextGap(off)
		data, err := h.nextRow(hole)
		if err == io.EOF || data-hole >= h.least {
			return hole, nil
		}
		off = data
	}
}

// nextRow returns the first offset ≥ off in a row that has a cube, or io.EOF.
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
		ny, ok := h.following(h.index.rows(z/h.side[2]), y, 1)
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

// nextGap returns the first offset ≥ off in a row without a cube, or the size of the array.
func (h Holes) nextGap(off int64) int64 {
	a := h.array
	for off < a.Size() {
		y, z := a.RowAt(off)
		if nz, ok := h.following(h.index.zs, z, 2); !ok || nz > z {
			return off
		}
		ys := h.index.rows(z / h.side[2])
		if ny, ok := h.following(ys, y, 1); !ok || ny > y {
			return off
		}
		end := a.Valid().Max[1]
		end = min(ys.firstMissing(y/h.side[1], end/h.side[1]+1)*h.side[1], end)
		if end < a.Box().Max[1] {
			return rowOffset(a, end, z)
		}
		off = rowOffset(a, a.Box().Min[1], z+1)
	}
	return a.Size()
}

// following returns the first voxel position ≥ at on an axis that lies in the valid part of the array and in a cube
// of the list.
func (h Holes) following(list numbers, at, axis int) (int, bool) {
	at = max(at, h.array.Valid().Min[axis])
	c, ok := list.from(at / h.side[axis])
	at = max(at, c*h.side[axis])
	return at, ok && at < min(h.array.Valid().Max[axis], h.array.Box().Max[axis])
}

// rowOffset returns the offset of a row of the array.
func rowOffset(a *flat.Array, y, z int) int64 {
	return a.Offset(volume.Vec{a.Box().Min[0], y, z})
}
