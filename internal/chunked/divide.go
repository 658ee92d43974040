package chunked

import "slices"

const (
	// minPart is the least bytes of a chunk that become a block. With less, a reader of all voxels would open each file more often than
	// that saves time for readers of a few.
	minPart = 512 << 10

	// maxBlocks limits the blocks of a chunk, so that a reader of all voxels does not decode chunks more often if their units are
	// larger than their metadata say.
	maxBlocks = 16
)

// divide makes several blocks of at least minPart bytes of each chunk if its codec can decode them one by one. A block is a part of the chunk
// as it is stored: a range on its slowest axis. The chunk is divided only where its units end.
func (g *geometry) divide(a *Array, minPart int) {
	if a.partDecoder() == nil || a.Unit < 1 {
		return
	}
	chunk := a.block()
	at := slices.IndexFunc(a.Order, func(axis int) bool { return chunk[axis] > 1 })
	if at < 0 || !slices.Contains(g.axis[:axisC], a.Order[at]) {
		return
	}
	slowest := a.Order[at]
	total, _ := product(a.Type.Size(), chunk)
	for n := min(chunk[slowest], total/minPart, maxBlocks); n > 1; n-- {
		if chunk[slowest]%n == 0 && total/n%a.Unit == 0 {
			g.cut, g.part = slowest, slices.Clone(chunk)
			g.part[slowest] /= n
			return
		}
	}
}

// blocksOf returns how many blocks a chunk has.
func (m *Mag) blocksOf() int {
	if m.cut == none {
		return 1
	}
	return m.array.block()[m.cut] / m.part[m.cut]
}
