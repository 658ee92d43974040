package edit

import (
	"fmt"
	"io/fs"

	"github.com/wkwfs/wkwfs/volume"
)

// array is the bytes of a box of voxels, as a flat file has them.
type array struct {
	box    volume.Box // in absolute voxels of the mag
	bounds volume.Box // of the layer
	voxel  int        // bytes
}

// line is the part of a range in one row of voxels. The first and the last may have parts of voxels.
type line struct {
	at   int // in the range
	n    int // bytes
	from int // absolute place of its first byte in the row: that of voxel x is x times the bytes of a voxel
	y, z int
}

// lines yields the lines of a range of n bytes at byte off of the array, in order.
func (a array) lines(off int64, n int, yield func(line) bool) {
	size := a.box.Size()
	row := int64(size[0]) * int64(a.voxel)
	number, start := off/row, off%row
	l := line{
		n: int(min(row-start, int64(n))), from: a.box.Min[0]*a.voxel + int(start),
		y: a.box.Min[1] + int(number%int64(size[1])), z: a.box.Min[2] + int(number/int64(size[1])),
	}
	for l.n > 0 && yield(l) {
		l.at += l.n
		l.n, l.from = int(min(row, int64(n-l.at))), a.box.Min[0]*a.voxel
		if l.y++; l.y == a.box.Max[1] {
			l.y, l.z = a.box.Min[1], l.z+1
		}
	}
}

// inside returns where the part of a line inside of the bounds starts and ends, as from has it.
func (a array) inside(l line) (lo, hi int) {
	if l.y < a.bounds.Min[1] || l.y >= a.bounds.Max[1] || l.z < a.bounds.Min[2] || l.z >= a.bounds.Max[2] {
		return l.from, l.from
	}
	lo = min(max(l.from, a.bounds.Min[0]*a.voxel), l.from+l.n)
	return lo, max(lo, min(l.from+l.n, a.bounds.Max[0]*a.voxel))
}

// rowOfBlocks is the y and z of blocks.
type rowOfBlocks [2]int

func rowOf(l line) rowOfBlocks { return rowOfBlocks{l.y / side, l.z / side} }

// touched returns the blocks of a range, each once.
func (a array) touched(off int64, n int) (blocks []volume.Vec) {
	type listed struct {
		seen []bool
		left int // that are not seen
	}
	first, end := a.bounds.Min[0]/side, (a.bounds.Max[0]+side-1)/side
	first, end = max(first, a.box.Min[0]/side), min(end, (a.box.Max[0]+side-1)/side)
	rows := map[rowOfBlocks]*listed{}
	var last *listed
	var at rowOfBlocks
	a.lines(off, n, func(l line) bool {
		lo, hi := a.inside(l)
		if lo == hi {
			return true
		}
		if row := rowOf(l); last == nil || row != at {
			if at, last = row, rows[row]; last == nil {
				last = &listed{make([]bool, end-first), end - first}
				rows[row] = last
			}
		}
		if last.left == 0 {
			return true
		}
		for x := lo / a.voxel / side; x <= (hi-1)/a.voxel/side; x++ {
			if !last.seen[x-first] {
				last.seen[x-first] = true
				last.left--
				blocks = append(blocks, volume.Vec{x, at[0], at[1]})
			}
		}
		return true
	})
	return blocks
}

// pinned is blocks in use by one call, by their rows.
type pinned struct {
	all  []*block
	rows map[rowOfBlocks][]*block
}

func (p *pinned) add(b *block) {
	p.all = append(p.all, b)
	row := rowOfBlocks{b.at[1], b.at[2]}
	p.rows[row] = append(p.rows[row], b)
}

// common yields what a range has in common with the blocks: n bytes, at at of the range and at from of the block.
func (p *pinned) common(a array, off int64, n int, yield func(b *block, at, from, n int) bool) {
	wide := side * a.voxel
	var blocks []*block
	known, of := false, rowOfBlocks{}
	a.lines(off, n, func(l line) bool {
		lo, hi := a.inside(l)
		if row := rowOf(l); !known || row != of {
			known, of, blocks = true, row, p.rows[row]
		}
		inBlock := ((l.z&(side-1))*side + l.y&(side-1)) * wide
		for _, b := range blocks {
			start := b.at[0] * wide
			x, end := max(lo, start), min(hi, start+wide)
			if x < end && !yield(b, l.at+x-l.from, inBlock+x-start, end-x) {
				return false
			}
		}
		return true
	})
}

// checkOutside returns an error if there is a voxel outside of the bounding box of the layer that is not 0.
func (a array) checkOutside(p []byte, off int64) (err error) {
	if a.box.Intersect(a.bounds) == a.box {
		return nil
	}
	a.lines(off, len(p), func(l line) bool {
		lo, hi := a.inside(l)
		before, after := p[l.at:l.at+lo-l.from], p[l.at+hi-l.from:l.at+l.n]
		i := firstNot0(before)
		if at := firstNot0(after); i < 0 && at >= 0 {
			i = at + hi - l.from
		}
		if i >= 0 {
			err = fmt.Errorf("voxels of %v, byte %d: outside of the layer, %v, expected 0, found %d: %w",
				a.box, off+int64(l.at+i), a.bounds, p[l.at+i], fs.ErrInvalid)
		}
		return err == nil
	})
	return err
}

// firstNot0 returns the place of the first byte that is not 0, or -1.
func firstNot0(p []byte) int {
	for i, b := range p {
		if b != 0 {
			return i
		}
	}
	return -1
}
