package edit

import (
	"github.com/wkwfs/wkwfs/volume"
)

// array is the bytes of a box of voxels, as a flat file has them.
type array struct {
	box    volume.Box // in absolute voxels of the mag
	bounds volume.Box // of the layer
	voxel  int        // bytes
}

// run is bytes that lie behind each other in the array, and in one block if they are inside of the bounds.
type run struct {
	at   int        // in the range
	n    int        // bytes
	in   bool       // inside of the bounds
	of   volume.Vec // the block, in blocks
	from int        // in the block, in bytes
}

// runs yields the runs of a range of n bytes at byte off of the array, in order. The first and the last may have parts
// of voxels.
func (a array) runs(off int64, n int, yield func(run) bool) {
	size := a.box.Size()
	row := int64(size[0]) * int64(a.voxel)
	for at := 0; at < n; {
		line := (off + int64(at)) / row
		start := (off + int64(at)) % row // in the row
		length := int(min(row-start, int64(n-at)))
		y, z := a.box.Min[1]+int(line%int64(size[1])), a.box.Min[2]+int(line/int64(size[1]))
		if !a.rowRuns(at, int(start), length, y, z, yield) {
			return
		}
		at += length
	}
}

// rowRuns yields the runs of n bytes of a row, from byte start of it on, which are at at in the range.
func (a array) rowRuns(at, start, n, y, z int, yield func(run) bool) bool {
	inRow := y >= a.bounds.Min[1] && y < a.bounds.Max[1] && z >= a.bounds.Min[2] && z < a.bounds.Max[2]
	lo, hi := a.bounds.Min[0]*a.voxel, a.bounds.Max[0]*a.voxel // where bytes of the row of the layer are
	wide := side * a.voxel
	inBlock := ((z&(side-1))*side + y&(side-1)) * wide
	for x, end := a.box.Min[0]*a.voxel+start, a.box.Min[0]*a.voxel+start+n; x < end; {
		r := run{at: at}
		next := end
		switch {
		case !inRow || x >= hi:
		case x < lo:
			next = min(end, lo)
		default:
			b := x / wide
			r.in, r.of, r.from = true, volume.Vec{b, y / side, z / side}, inBlock+x%wide
			next = min(end, hi, (b+1)*wide)
		}
		r.n = next - x
		if !yield(r) {
			return false
		}
		at, x = at+r.n, next
	}
	return true
}

// touched returns the blocks of a range, each once.
func (a array) touched(off int64, n int) (blocks []volume.Vec) {
	seen := map[volume.Vec]bool{}
	var last volume.Vec
	for r := range func(yield func(run) bool) { a.runs(off, n, yield) } {
		if !r.in || len(blocks) > 0 && r.of == last {
			continue
		}
		if last = r.of; !seen[last] {
			seen[last] = true
			blocks = append(blocks, last)
		}
	}
	return blocks
}
