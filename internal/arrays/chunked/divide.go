package chunked

import (
	"slices"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
)

const (
	// minPart is the least bytes of a chunk that become a block. With less, a reader of all voxels would open each file
	// more often than that saves time for readers of a few.
	minPart = 512 << 10

	// rawParts is how many times more bytes a part of a chunk without compression has, of which a block takes no memory
	// but its voxels.
	rawParts = 32

	// maxBlocks limits the blocks of a chunk, so that a reader of all voxels does not decode chunks more often if their
	// units are larger than their metadata say.
	maxBlocks = 16
)

// divide makes several blocks of each chunk, if its codec can decode a part of it. A block is a part of the chunk as it
// is stored: a range on its slowest axis. A chunk that goes far past the end of the array is divided so that the first
// block has all of the array. If its codec can decode any part, it is also divided into blocks of at least minPart
// bytes, where its units end.
func (g *geometry) divide(a *Array, minPart int, whole bool) {
	chunk := a.block()
	at := slices.IndexFunc(a.Order, func(axis int) bool { return chunk[axis] > 1 })
	if at < 0 || !slices.Contains(g.axis[:axisC], a.Order[at]) {
		return
	}
	slowest := a.Order[at]
	total, _ := product(a.Type.Size(), chunk)
	extent := chunk[slowest]
	if by := a.partDecoder(); by != nil || a.prefixDecoder() != nil {
		if total > 2*minPart {
			extent = lattice.Divisor(extent, min(a.Shape[slowest], extent))
		}
		extent /= a.divisions(by, extent, total/chunk[slowest], minPart, whole)
	}
	if extent < chunk[slowest] {
		g.cut, g.part = slowest, slices.Clone(chunk)
		g.part[slowest] = extent
	}
}

// divisions returns how many blocks a part of a chunk becomes. It has extent planes of plane bytes.
func (a *Array) divisions(by codec.PartDecoder, extent, plane, minPart int, whole bool) int {
	unit := a.Unit
	if by == (codec.Raw{}) {
		unit, minPart = 1, minPart*rawParts
	}
	if by == nil || unit < 1 || whole {
		return 1
	}
	for n := min(extent, extent*plane/minPart, maxBlocks); n > 1; n-- {
		if extent%n == 0 && extent/n*plane%unit == 0 {
			return n
		}
	}
	return 1
}

// blocksOf returns how many blocks a chunk has.
func (m *Mag) blocksOf() int {
	if m.cut == none {
		return 1
	}
	return m.array.block()[m.cut] / m.part[m.cut]
}
