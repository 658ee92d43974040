package flat

import "github.com/wkwfs/wkwfs/volume"

// byteRange is a range of bytes of an array, and the memory to which it is copied.
type byteRange struct {
	*Array
	p          []byte
	start, end int64      // p is for bytes [start, end) of the array, at least one
	bounds     volume.Box // contains all voxels of the range, in voxels of the grid
}

// newRange returns the range of len(p) bytes at off. Its bounds are exact on z, on y if the range lies in one plane,
// and on x if it lies in one row.
func (a *Array) newRange(p []byte, off int64) byteRange {
	start, last := off, off+int64(len(p))-1
	voxels := volume.Box{Max: a.box.Size()}
	if voxels.Min[2], voxels.Max[2] = int(start/a.plane), int(last/a.plane)+1; voxels.Size()[2] == 1 {
		start, last = start%a.plane, last%a.plane
		if voxels.Min[1], voxels.Max[1] = int(start/a.row), int(last/a.row)+1; voxels.Size()[1] == 1 {
			voxels.Min[0], voxels.Max[0] = int(start%a.row/a.voxel), int(last%a.row/a.voxel)+1
		}
	}
	bounds := volume.Box{Min: voxels.Min.Add(a.box.Min), Max: voxels.Max.Add(a.box.Min)}
	return byteRange{a, p, off, off + int64(len(p)), bounds}
}

// readBlocks calls read for the blocks that contain valid bytes of the range, and clears the other bytes.
func (r byteRange) readBlocks(read func([]volume.Vec) error) error {
	blocks := volume.Box{Min: r.bounds.Min.Div(r.grid.Block), Max: r.bounds.Max.CeilDiv(r.grid.Block)}
	tiles := volume.Box{Min: blocks.Min.Div(r.tile), Max: blocks.Max.CeilDiv(r.tile)}
	list := make([]volume.Vec, 0, 64)
	exact := r.exact()
	for t := range tiles.All() {
		lo := t.Mul(r.tile)
		for b := range blocks.Intersect(volume.Box{Min: lo, Max: lo.Add(r.tile)}).All() {
			part, valid := r.clip(b)
			switch {
			case !exact && !r.overlaps(part):
				continue
			case valid.Empty() || valid != part && !r.overlaps(valid):
				r.clear(part)
				continue
			}
			if list = append(list, b); len(list) == r.limits.blocks {
				if err := read(list); err != nil {
					return err
				}
				list = list[:0]
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return read(list)
}

// exact reports whether all voxels of the bounds are in the range: it has whole rows of one plane.
func (r byteRange) exact() bool {
	return r.bounds.Size()[2] == 1 && r.start%r.row == 0 && r.end%r.row == 0
}

// clip returns the part of block b that lies in the bounds of the range, and the valid part of that. It computes axis
// by axis: boxes take twice the time here.
func (r *byteRange) clip(b volume.Vec) (part, valid volume.Box) {
	for i, side := range r.grid.Block {
		lo := b[i] * side
		part.Min[i], part.Max[i] = max(lo, r.bounds.Min[i]), min(lo+side, r.bounds.Max[i])
		valid.Min[i], valid.Max[i] = max(part.Min[i], r.valid.Min[i]), min(part.Max[i], r.valid.Max[i])
	}
	return part, valid
}

// overlaps reports whether the range contains a byte of a part of the box.
func (r byteRange) overlaps(part volume.Box) bool {
	found := false
	r.runs(part, func(_ int64, _ volume.Vec, _ int) bool { found = true; return false })
	return found
}

// clear writes zeros for the bytes of a part of the box.
func (r byteRange) clear(part volume.Box) {
	r.runs(part, func(at int64, _ volume.Vec, n int) bool { clear(r.p[at : at+int64(n)]); return true })
}

// runs yields the runs of bytes along x that the range shares with a part of the box: the offset in p, the first
// voxel and the number of bytes. The first run may start inside a voxel, and the last one may end inside a voxel.
func (r byteRange) runs(part volume.Box, yield func(at int64, voxel volume.Vec, n int) bool) {
	length := int64(part.Max[0]-part.Min[0]) * r.voxel
	for z := part.Min[2]; z < part.Max[2]; z++ {
		for y := part.Min[1]; y < part.Max[1]; y++ {
			start := r.Offset(volume.Vec{part.Min[0], y, z})
			if start >= r.end {
				return
			}
			lo, hi := max(start, r.start), min(start+length, r.end)
			if lo < hi && !yield(lo-r.start, volume.Vec{part.Min[0] + int((lo-start)/r.voxel), y, z}, int(hi-lo)) {
				return
			}
		}
	}
}

// copyBlock copies the bytes that the range shares with block b, at least one.
func (r byteRange) copyBlock(b volume.Vec, voxels []byte) {
	part, valid := r.clip(b)
	if voxels == nil || valid != part {
		r.clear(part)
	}
	if voxels != nil && !valid.Empty() {
		r.copyPart(valid, voxels, b.Mul(r.grid.Block))
	}
}

// copyPart copies a part of the box from its block, which starts at voxel lo.
func (r byteRange) copyPart(part volume.Box, voxels []byte, lo volume.Vec) {
	size := part.Size()
	length := r.voxel * int64(size[0])
	blockRow := r.voxel * int64(r.grid.Block[0])
	blockPlane := blockRow * int64(r.grid.Block[1])
	// Plain numbers instead of vectors: a vector is built in memory, and the processor delays loading it until
	// earlier stores of voxels are done.
	at := r.Offset(part.Min)                                     // in the array
	src := r.voxel * int64(part.Min.Sub(lo).Index(r.grid.Block)) // in the block
	ahead := blockPlane
	if size[2] == 1 {
		ahead = 0
	}
	for range size[2] {
		r.copyPlane(at, voxels[src:], length, size[1], blockRow, ahead)
		at += r.plane
		src += blockPlane
	}
}

// copyPlane copies rows of a block, length bytes of each, to offset at of the array. The rows that are copied next
// lie ahead bytes further in memory. Rows that the range contains only a part of are rare, and are copied one by one.
func (r byteRange) copyPlane(at int64, voxels []byte, length int64, rows int, blockRow, ahead int64) {
	if at >= r.start && at+int64(rows-1)*r.row+length <= r.end {
		CopyRows(r.p[at-r.start:], voxels, int(length), rows, int(r.row), int(blockRow), int(ahead))
	} else {
		r.copyClipped(at, voxels, length, rows, blockRow)
	}
}

// copyClipped is copyPlane for rows that the range contains only a part of.
func (r byteRange) copyClipped(at int64, voxels []byte, length int64, rows int, blockRow int64) {
	for i := range int64(rows) {
		row := at + i*r.row
		if start, end := max(row, r.start), min(row+length, r.end); start < end {
			copy(r.p[start-r.start:end-r.start], voxels[i*blockRow+start-row:])
		}
	}
}
