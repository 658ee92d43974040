package flat

import (
	"unsafe"

	"github.com/wkwfs/wkwfs/volume"
)

// Gather copies the bytes [off, off+len(p)) of the array to p, from blocks in memory. The range must lie in one
// plane. blocks is the box of the blocks in memory, in blocks of the grid. It must contain all blocks with valid
// voxels of the range. voxels has the voxels of each of these blocks, in Fortran order, or nil for a block that was
// never written.
//
// It computes with plain numbers: boxes take twice the time here.
func (a *Array) Gather(p []byte, off int64, blocks volume.Box, voxels [][]byte) {
	r := a.newRange(p, off)
	side, lo, hi := r.grid.Block, r.bounds.Min, r.bounds.Max
	first, end := lo.Div(side), hi.CeilDiv(side)
	blockRow := r.voxel * int64(side[0])
	plane := int64(side[1]) * int64(lo[2]-first[2]*side[2]) // in rows of a block
	allValid := r.bounds.Intersect(r.valid) == r.bounds
	if !allValid {
		r.gatherClipped(blocks, voxels)
		return
	}
	for y := first[1]; y < end[1]; y++ {
		from, to := max(lo[1], y*side[1]), min(hi[1], (y+1)*side[1])
		at := r.Offset(volume.Vec{r.box.Min[0], from, lo[2]})
		src := blockRow * (plane + int64(from-y*side[1]))
		i := volume.Vec{first[0], y, first[2]}.Sub(blocks.Min).Index(blocks.Size())
		x := first[0]
		if done := r.gatherRow(x, to-from, at, src, voxels[i:i+end[0]-x]); done > 0 {
			if x, i = x+done, i+done; x == end[0] {
				continue
			}
		}
		next := voxels[i]
		for ; x < end[0]; x++ {
			block := next
			if i++; x+1 < end[0] {
				next = voxels[i]
			}
			if block == nil {
				r.copyBlock(volume.Vec{x, y, first[2]}, nil)
				continue
			}
			left, right := max(lo[0], x*side[0]), min(hi[0], (x+1)*side[0])
			r.copyPlane(at+r.voxel*int64(left-r.box.Min[0]), block[src+r.voxel*int64(left-x*side[0]):],
				r.voxel*int64(right-left), to-from, blockRow, distance(block, next))
		}
	}
}

// gatherRow copies some rows of the first blocks of a row of blocks, all at once. x is the first block. at is the
// offset in the array of the first voxel of the box in the first row, and src the offset of that row in a block. It
// returns how many blocks are done: it stops before one that was never written, and before one of which the range has a
// part only.
func (r byteRange) gatherRow(x, rows int, at, src int64, voxels [][]byte) (done int) {
	side, n := r.grid.Block[0], int(r.voxel)*r.grid.Block[0]
	left, right := x*side, min((x+len(voxels))*side, r.bounds.Max[0]/side*side)
	if n%32 != 0 || n > longRow || left < r.bounds.Min[0] || right <= left {
		return 0
	}
	at += r.voxel * int64(left-r.box.Min[0])
	if at < r.start || at+int64(rows-1)*r.row+r.voxel*int64(right-left) > r.end {
		return 0
	}
	return gatherRows32(r.p[at-r.start:], voxels[:(right-left)/side], int(src), n, rows, int(r.row))
}

// gatherClipped is Gather for a range whose bounds reach outside of the valid part of the grid.
func (r byteRange) gatherClipped(blocks volume.Box, voxels [][]byte) {
	for b := range r.bounds.Div(r.grid.Block).All() {
		if in := b.Sub(blocks.Min); in.In(blocks.Size()) {
			r.copyBlock(b, voxels[in.Index(blocks.Size())])
		} else {
			r.copyBlock(b, nil)
		}
	}
}

// distance returns the address of to minus the address of from, in bytes.
func distance(from, to []byte) int64 {
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(to)))) - int64(uintptr(unsafe.Pointer(unsafe.SliceData(from))))
}
