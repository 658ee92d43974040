package flat

import "github.com/wkwfs/wkwfs/volume"

// byteRange is a range of bytes of an array, and the memory that it is to be copied to.
type byteRange struct {
	*Array
	p          []byte
	start, end int64      // p is [start, end) of the array, not empty
	bounds     volume.Box // holds every voxel of it, in voxels of the grid
}

// newRange finds the bounds: exact on z, on y if the range is in one plane and on x
// if it is in one row.
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

// maxBlocks bounds the blocks that are read at once.
const maxBlocks = 1024

// tile is how many blocks follow each other in the order in which they are read: neighbours on x and y, which formats store
// close to each other. All are of one layer: with room for little more than a layer, the last voxels of one are read
// before the first of the next.
var tile = volume.Vec{4, 2, 1}

// needed clears what no block gives, and calls read with the blocks that give the rest.
func (r byteRange) needed(read func([]volume.Vec) error) error {
	blocks := volume.Box{Min: r.bounds.Min.Div(r.grid.Block), Max: r.bounds.Max.CeilDiv(r.grid.Block)}
	tiles := volume.Box{Min: blocks.Min.Div(tile), Max: blocks.Max.CeilDiv(tile)}
	list := make([]volume.Vec, 0, 64)
	for t := range tiles.All() {
		lo := t.Mul(tile)
		for b := range blocks.Intersect(volume.Box{Min: lo, Max: lo.Add(tile)}).All() {
			part, valid := r.parts(b)
			switch {
			case !r.touches(part):
				continue
			case valid.Empty() || valid != part && !r.touches(valid):
				r.clear(part)
				continue
			}
			if list = append(list, b); len(list) == maxBlocks {
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

// parts returns the part of a block that is in the bounds of the range, and the valid part of that.
func (r byteRange) parts(b volume.Vec) (part, valid volume.Box) {
	lo := b.Mul(r.grid.Block)
	part = volume.Box{Min: lo, Max: lo.Add(r.grid.Block)}.Intersect(r.bounds)
	return part, part.Intersect(r.valid)
}

// touches reports whether the range has a byte of the part of the box.
func (r byteRange) touches(part volume.Box) bool {
	found := false
	r.runs(part, func(_ int64, _ volume.Vec, _ int) bool { found = true; return false })
	return found
}

// clear writes zeros to the part of the box.
func (r byteRange) clear(part volume.Box) {
	r.runs(part, func(at int64, _ volume.Vec, n int) bool { clear(r.p[at : at+int64(n)]); return true })
}

// runs yields the runs of bytes along x of a part of the box that the range has: where
// in p, from which voxel on and how many bytes. The first may start, and the
// last end, inside a voxel.
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

// place copies the bytes of the range that block b has. It has some.
func (r byteRange) place(b volume.Vec, voxels []byte) {
	part, valid := r.parts(b)
	if voxels == nil || valid != part {
		r.clear(part)
	}
	if voxels != nil && !valid.Empty() {
		r.copy(valid, voxels, b.Mul(r.grid.Block))
	}
}

// copy copies the part of the box out of its block, which starts at voxel lo.
func (r byteRange) copy(part volume.Box, voxels []byte, lo volume.Vec) {
	size := part.Size()
	length := r.voxel * int64(size[0])
	blockRow := r.voxel * int64(r.grid.Block[0])
	blockPlane := blockRow * int64(r.grid.Block[1])
	// Plain numbers, from plane to plane: vectors would be put together in memory, where a
	// processor waits with reading them until the voxels before are written.
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

// copyPlane copies rows of a block, length bytes of each, to the array from at on. The rows to be
// copied next lie ahead bytes further in memory. Rows that the range cuts are rare: they go one by one.
func (r byteRange) copyPlane(at int64, voxels []byte, length int64, rows int, blockRow, ahead int64) {
	if at >= r.start && at+int64(rows-1)*r.row+length <= r.end {
		copyRows(r.p[at-r.start:], voxels, int(length), rows, int(r.row), int(blockRow), int(ahead))
	} else {
		r.copyCut(at, voxels, length, rows, blockRow)
	}
}

// copyCut copies what the range has of rows that start at a byte of the array.
func (r byteRange) copyCut(at int64, voxels []byte, length int64, rows int, blockRow int64) {
	for i := range int64(rows) {
		row := at + i*r.row
		if start, end := max(row, r.start), min(row+length, r.end); start < end {
			copy(r.p[start-r.start:end-r.start], voxels[i*blockRow+start-row:])
		}
	}
}
