package importer

import (
	"encoding/binary"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// raiseLargest raises the largest id of a segmentation to that of a block. Negative numbers are not ids.
func (l *layer) raiseLargest(block []byte) {
	largest := largestID(block, l.in.Grid.Type)
	for {
		old := l.largest.Load()
		if largest <= old || l.largest.CompareAndSwap(old, largest) {
			return
		}
	}
}

// largestID returns the largest number of a block that is not negative, or 0.
func largestID(block []byte, t volume.Type) (largest uint64) {
	limit := uint64(math.MaxUint64)
	if !t.IsUnsigned() {
		limit = 1<<(8*t.Size()-1) - 1
	}
	raise := func(v uint64) {
		if v > largest && v <= limit {
			largest = v
		}
	}
	switch t.Size() {
	case 1:
		for _, v := range block {
			raise(uint64(v))
		}
	case 2:
		for ; len(block) >= 2; block = block[2:] {
			raise(uint64(binary.LittleEndian.Uint16(block)))
		}
	case 4:
		for ; len(block) >= 4; block = block[4:] {
			raise(uint64(binary.LittleEndian.Uint32(block)))
		}
	default:
		for ; len(block) >= 8; block = block[8:] {
			raise(binary.LittleEndian.Uint64(block))
		}
	}
	return largest
}
