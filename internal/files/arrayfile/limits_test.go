package arrayfile

import (
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
)

// TestRepeatedStrips: a TIFF whose pages share a table of strips cannot take more memory than its size allows.
func TestRepeatedStrips(t *testing.T) {
	const strips, pages = 1 << 20, 100
	b := binary.LittleEndian.AppendUint32([]byte("II*\x00"), 8+strips) // of the first page
	table := make([]byte, strips)
	for i := range table {
		table[i] = 1 // all strips are the byte at offset 1
	}
	b = append(b, table...)
	for page := range pages {
		fields := [][3]uint32{
			{tiff.TagImageWidth, tiff.Long, 1}, {tiff.TagImageLength, tiff.Long, strips},
			{tiff.TagBitsPerSample, tiff.Long, 8},
			{tiff.TagPhotometric, tiff.Long, 1}, {tiff.TagRowsPerStrip, tiff.Long, 1},
			{tiff.TagStripOffsets, tiff.Byte, 8}, {tiff.TagStripByteCounts, tiff.Byte, 8},
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(len(fields)))
		for _, f := range fields {
			count := uint32(1)
			if f[1] == tiff.Byte {
				count = strips
			}
			b = binary.LittleEndian.AppendUint16(b, uint16(f[0]))
			b = binary.LittleEndian.AppendUint16(b, uint16(f[1]))
			b = binary.LittleEndian.AppendUint32(b, count)
			b = binary.LittleEndian.AppendUint32(b, f[2])
		}
		next := uint32(len(b) + 4)
		if page == pages-1 {
			next = 0
		}
		b = binary.LittleEndian.AppendUint32(b, next)
	}
	path := filepath.Join(t.TempDir(), "file.tif")
	write(t, path, b)
	var err error
	peak := voxeltest.PeakHeap(func() { _, err = Open(path) })
	if err == nil || !strings.Contains(err.Error(), "directories and fields that do not overlap") || peak > 128<<20 {
		t.Errorf("got %v, with %d MiB", err, peak>>20)
	}
}
