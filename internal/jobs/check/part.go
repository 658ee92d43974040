package check

import (
	"iter"
	"math/bits"

	"github.com/wkwfs/wkwfs/volume"
)

// A part has at most partBytes of decoded blocks and at most partBlocks blocks, but at least one block. A WKW file
// reads about partBytes at once.
const (
	partBytes  = 1 << 20
	partBlocks = 4096
)

// part is a box of blocks of an open cube.
type part struct {
	*openCube
	box volume.Box // in blocks
}

// memory returns how many bytes n blocks take while they are decoded: voxels, and what is stored or what decoding takes
// besides.
func (p part) memory(n int) int64 {
	voxels := n * p.grid.BlockBytes()
	return int64(voxels + max(voxels, volume.WorkMemory(p.file, p.grid)))
}

// blocks returns the blocks of the part, not yet read.
func (p part) blocks() []volume.Block {
	n := p.box.Size()
	blocks := make([]volume.Block, 0, n[0]*n[1]*n[2])
	for at := range p.box.All() {
		blocks = append(blocks, volume.Block{At: at})
	}
	return blocks
}

// partsOf cuts a grid into boxes of blocks, in Morton order. The blocks of such a box are adjacent in a WKW file.
func partsOf(g volume.Grid) iter.Seq[volume.Box] {
	limit := max(1, min(partBytes/g.BlockBytes(), partBlocks))
	return func(yield func(volume.Box) bool) { split(volume.Box{Max: g.Blocks()}, limit, yield) }
}

// split halves a box until it has at most limit blocks: the longest axis first, and z before y before x.
func split(box volume.Box, limit int, yield func(volume.Box) bool) bool {
	n, axis := box.Size(), 2
	if n[0]*n[1]*n[2] <= limit {
		return yield(box)
	}
	for a := 1; a >= 0; a-- {
		if n[a] > n[axis] {
			axis = a
		}
	}
	half := 1 << (bits.Len(uint(n[axis]-1)) - 1) // the largest power of two less than n[axis]
	lower, upper := box, box
	lower.Max[axis] = box.Min[axis] + half
	upper.Min[axis] = lower.Max[axis]
	return split(lower, limit, yield) && split(upper, limit, yield)
}
