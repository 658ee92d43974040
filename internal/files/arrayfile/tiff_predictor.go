package arrayfile

import (
	"encoding/binary"

	"github.com/wkwfs/wkwfs/volume"
)

// undoDifferences replaces differences of samples to those on their left by sums: TIFF 6.0, section 14. The samples are
// little-endian.
func undoDifferences(b []byte, row int, g volume.Grid) {
	step := g.VoxelBytes()
	for ; len(b) >= row; b = b[row:] {
		line := b[:row]
		switch g.Type.Size() {
		case 1:
			for i := step; i < row; i++ {
				line[i] += line[i-step]
			}
		case 2:
			for i := step; i < row; i += 2 {
				binary.LittleEndian.PutUint16(line[i:],
					binary.LittleEndian.Uint16(line[i:])+binary.LittleEndian.Uint16(line[i-step:]))
			}
		case 4:
			for i := step; i < row; i += 4 {
				binary.LittleEndian.PutUint32(line[i:],
					binary.LittleEndian.Uint32(line[i:])+binary.LittleEndian.Uint32(line[i-step:]))
			}
		case 8:
			for i := step; i < row; i += 8 {
				binary.LittleEndian.PutUint64(line[i:],
					binary.LittleEndian.Uint64(line[i:])+binary.LittleEndian.Uint64(line[i-step:]))
			}
		}
	}
}

// undoFloats undoes the predictor for floats: Adobe Photoshop TIFF Technical Note 3. A row has the first bytes of all
// samples, then the second bytes, from the most significant on. Each is stored as the difference to the one on its
// left.
func undoFloats(b []byte, row int, g volume.Grid) {
	size, channels := g.Type.Size(), g.Channels
	sums := scratch(row)
	defer recycle(sums)
	for ; len(b) >= row; b = b[row:] {
		copy(sums, b[:row])
		for i := channels; i < row; i++ {
			sums[i] += sums[i-channels]
		}
		samples := row / size
		for i := range samples {
			for j := range size {
				b[i*size+size-1-j] = sums[j*samples+i]
			}
		}
	}
}
