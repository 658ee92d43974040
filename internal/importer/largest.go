package importer

import (
	"context"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// noteLargest raises the largest id of a segmentation to those of a block. Negative
// numbers are no ids.
func (l *layer) noteLargest(block []byte) {
	if l.Category != Segmentation {
		return
	}
	largest := uint64(0)
	size, signed := l.in.Grid.Type.Size(), l.in.Grid.Type >= volume.Int8
	limit := uint64(math.MaxUint64)
	if signed {
		limit = 1<<(8*size-1) - 1
	}
	for i := 0; i < len(block); i += size {
		if v := littleEndian(block[i : i+size]); v <= limit {
			largest = max(largest, v)
		}
	}
	for {
		old := l.largest.Load()
		if largest <= old || l.largest.CompareAndSwap(old, largest) {
			return
		}
	}
}

// littleEndian reads the unsigned number that b is.
func littleEndian(b []byte) (v uint64) {
	if len(b) == 1 {
		return uint64(b[0])
	}
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// findLargest reads a cube that was kept, of mag 1, for its ids.
func (w *writer) findLargest(ctx context.Context, c volume.Vec) error {
	if w.Category != Segmentation || w.factor != w.factors[0] {
		return nil
	}
	f, err := w.openWritten(c)
	if err != nil {
		return err
	}
	defer f.Close()
	for b := range (volume.Box{Max: f.Grid().Blocks()}).All() {
		block, err := volume.ReadBlock(ctx, f, b)
		if err != nil {
			return err
		}
		w.noteLargest(block)
	}
	return nil
}
