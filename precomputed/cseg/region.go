package cseg

import "encoding/binary"

// region is where the voxels of a block go: size voxels at byte begin of the channel's
// output, its rows and planes so many bytes apart. The block itself may be larger.
type region struct {
	size, block       [3]int
	width             int // bytes of a label
	begin, row, plane int // bytes
}

// fill gives all voxels the same label.
func (r region) fill(dst, label []byte) {
	first := dst[r.begin:][:r.size[0]*r.width]
	for n := copy(first, label); n < len(first); n *= 2 {
		copy(first[n:], first[:n])
	}
	for z := range r.size[2] {
		for y := range r.size[1] {
			copy(dst[r.begin+z*r.plane+y*r.row:], first)
		}
	}
}

// unpack32 gives every voxel the label that its index stands for, labels of 4 bytes.
// An index takes width bits of values, the lowest bits of a word first; width divides
// 32, so that no index lies in two words. If one is past the end of the table, it is
// returned with false.
func (r region) unpack32(dst, values []byte, width uint, labels []byte) (int, bool) {
	mask, count := uint32(1<<width-1), uint(len(labels)/4)
	for z := range r.size[2] {
		for y := range r.size[1] {
			out := dst[r.begin+z*r.plane+y*r.row:][:r.size[0]*4]
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
			out := dst[r.begin+z*r.plane+y*r.row:][:r.size[0]*8]
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
