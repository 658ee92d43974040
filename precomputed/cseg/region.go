package cseg

import "encoding/binary"

// region is the part of a block that is inside the chunk.
type region struct {
	size, block [3]int // in voxels
	width       int    // bytes of a label
	offset      int    // of the first voxel in the decoded channel, in bytes
	row, plane  int    // distance between rows and planes of the decoded channel, in bytes
}

// fill sets all voxels to the same label.
func (r region) fill(dst, label []byte) {
	first := dst[r.offset:][:r.size[0]*r.width]
	for n := copy(first, label); n < len(first); n *= 2 {
		copy(first[n:], first[:n])
	}
	for z := range r.size[2] {
		for y := range r.size[1] {
			copy(dst[r.offset+z*r.plane+y*r.row:], first)
		}
	}
}

// unpack32 sets each voxel to its label, of 4 bytes. values has the indices of the voxels, of width bits each, from
// the lowest bits of a word to the highest. width divides 32, so an index is never in two words. If an index is
// beyond the table, unpack32 returns it, and false.
func (r region) unpack32(dst, values []byte, width uint, labels []byte) (int, bool) {
	mask, count := uint32(1<<width-1), uint(len(labels)/4)
	for z := range r.size[2] {
		for y := range r.size[1] {
			out := dst[r.offset+z*r.plane+y*r.row:][:r.size[0]*4]
			bit := uint((z*r.block[1]+y)*r.block[0]) * width
			for i := 0; i+4 <= len(out); i += 4 {
				word := bit / 32 * 4
				index := uint(binary.LittleEndian.Uint32(values[word:word+4]) >> (bit % 32) & mask)
				if index >= count {
					return int(index), false
				}
				binary.LittleEndian.PutUint32(out[i:i+4], binary.LittleEndian.Uint32(labels[index*4:index*4+4]))
				bit += width
			}
		}
	}
	return 0, true
}

// unpack64 is unpack32 for labels of 8 bytes.
func (r region) unpack64(dst, values []byte, width uint, labels []byte) (int, bool) {
	mask, count := uint32(1<<width-1), uint(len(labels)/8)
	for z := range r.size[2] {
		for y := range r.size[1] {
			out := dst[r.offset+z*r.plane+y*r.row:][:r.size[0]*8]
			bit := uint((z*r.block[1]+y)*r.block[0]) * width
			for i := 0; i+8 <= len(out); i += 8 {
				word := bit / 32 * 4
				index := uint(binary.LittleEndian.Uint32(values[word:word+4]) >> (bit % 32) & mask)
				if index >= count {
					return int(index), false
				}
				binary.LittleEndian.PutUint64(out[i:i+8], binary.LittleEndian.Uint64(labels[index*8:index*8+8]))
				bit += width
			}
		}
	}
	return 0, true
}
