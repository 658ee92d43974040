package check

import (
	"iter"
	"math/bits"
	"sync"

	"github.com/wkwfs/wkwfs/volume"
)

// A part has as many bytes of blocks, decoded, at most: what is read at once of a WKW file. It has at least one block,
// and no more than some that are kept account of.
const (
	partBytes  = 1 << 20
	partBlocks = 4096
)

// part is blocks of an open cube.
type part struct {
	*opened
	box volume.Box // in blocks
}

// blocks lists the blocks of the part.
func (p part) blocks() []volume.Block {
	n := p.box.Size()
	blocks := make([]volume.Block, 0, n[0]*n[1]*n[2])
	for at := range p.box.All() {
		blocks = append(blocks, volume.Block{At: at})
	}
	return blocks
}

// partsOf cuts a grid into boxes of blocks, in Morton order. In a WKW file, the blocks of such a box lie next to each
// other.
func partsOf(g volume.Grid) iter.Seq[volume.Box] {
	most := max(1, min(partBytes/g.BlockBytes(), partBlocks))
	return func(yield func(volume.Box) bool) { split(volume.Box{Max: g.Blocks()}, most, yield) }
}

// split halves a box until it has no more than most blocks: the longest axis first, and z before y before x.
func split(box volume.Box, most int, yield func(volume.Box) bool) bool {
	n, axis := box.Size(), 2
	if n[0]*n[1]*n[2] <= most {
		return yield(box)
	}
	for a := 1; a >= 0; a-- {
		if n[a] > n[axis] {
			axis = a
		}
	}
	half := 1 << (bits.Len(uint(n[axis]-1)) - 1) // the largest power of two that is less than all
	lower, upper := box, box
	lower.Max[axis] = box.Min[axis] + half
	upper.Min[axis] = lower.Max[axis]
	return split(lower, most, yield) && split(upper, most, yield)
}

// buffer is memory for the blocks of a part. It is taken when the first block turns out to be plausible: before, nothing
// is known of a damaged file.
type buffer struct {
	block, blocks int // bytes of a block, and how many there are

	mu   sync.Mutex
	all  []byte
	used int // bytes
}

// buffers are used again, those of usual parts.
var buffers = sync.Pool{New: func() any { b := make([]byte, partBytes); return &b }}

// next returns memory for one more block. Several goroutines may call it.
func (b *buffer) next(volume.Vec) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch size := b.block * b.blocks; {
	case b.all != nil:
	case size <= partBytes:
		b.all = *buffers.Get().(*[]byte)
	default: // one large block
		b.all = make([]byte, size)
	}
	start := b.used
	b.used += b.block
	return b.all[start:b.used:b.used]
}

// free gives the memory back.
func (b *buffer) free() {
	if len(b.all) == partBytes {
		buffers.Put(&b.all)
	}
}
