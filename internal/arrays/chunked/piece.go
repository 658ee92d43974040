package chunked

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/volume"
)

// piece is a stored chunk that has channels of a block.
type piece struct {
	block   int // in the list of blocks
	channel int // position of the chunk on the channel axis, in units of the smallest chunks
	part    int // of the cube
	offset  int64
	size    int64
	index   int    // of the block among those of the chunk
	header  int    // bytes of the header of the chunk, once that is read
	data    []byte // the stored bytes; nil: they are read when they are decoded
}

func comparePieces(a, b piece) int {
	return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.offset, b.offset))
}

// sameChunk reports whether two pieces are parts of one chunk.
func (p piece) sameChunk(q piece) bool {
	return p.part == q.part && p.offset == q.offset && p.size == q.size
}

// channelChunk returns the extent of the smallest chunks on the channel axis.
func (m *Mag) channelChunk() int {
	if m.axis[axisC] == none {
		return 1
	}
	return m.array.block()[m.axis[axisC]]
}

// piecesOf returns how many pieces a block has at most.
func (m *Mag) piecesOf() int {
	n := m.channelChunk()
	return (m.channels[1]-1)/n - m.channels[0]/n + 1
}

// locate finds the stored chunks of block b, which is number i. Chunks that were never written are left out.
func (c *cube) locate(ctx context.Context, i int, b volume.Vec) ([]piece, error) {
	if c.blockBox(b).Empty() {
		return nil, nil
	}
	var pieces []piece
	n := c.channelChunk()
	for k := c.channels[0] / n; k*n < c.channels[1]; k++ {
		p, ok, err := c.locatePiece(ctx, b, k)
		if err != nil {
			return nil, err
		}
		if p.block = i; ok {
			pieces = append(pieces, p)
		}
	}
	return pieces, nil
}

// locatePiece finds the chunk of block b at position k on the channel axis. ok is false if it was never written.
func (c *cube) locatePiece(ctx context.Context, b volume.Vec, k int) (p piece, ok bool, err error) {
	a := c.array
	first := c.position(len(a.Shape), b.Mul(c.grid.Block), k*c.channelChunk())
	for axis, n := range c.index {
		if n > 0 {
			first[axis] = c.inChunk(axis, a.Chunk)
		}
	}
	p = piece{channel: k}
	if at := c.axis[axisC]; at != none {
		part := first[at] / a.Chunk[at]
		p.part = part - c.Mag.parts(a)[0]
		first[at] -= part * a.Chunk[at]
	}
	file := c.parts[p.part]
	if file.File == nil {
		return p, false, nil
	}
	p.size = file.Info.Size()
	outer := a.Chunk
	for level, s := range a.Shards {
		e, err := c.entry(ctx, p, level, outer, first)
		if err != nil || e.isAbsent() {
			return p, false, err
		}
		p.offset, p.size = p.offset+int64(e.offset), int64(e.size)
		outer = s.Inner
		for axis, n := range s.Inner {
			first[axis] %= n
		}
	}
	if c.cut != none {
		p.index = first[c.cut] / c.part[c.cut]
	}
	if err := c.checkSize(b, p); err != nil {
		return p, true, err
	}
	if c.cut != none && c.array.partDecoder() == nil { // no encoder needs more for the start of the chunk
		p.size = min(p.size, int64(c.storedLimit(c.part)))
	}
	return p, true, nil
}

// storedLimit returns how many bytes a chunk of an extent takes at most: more than any encoder makes of it.
func (m *Mag) storedLimit(extent []int) int {
	n, _ := product(m.array.Type.Size(), extent)
	limit := m.array.Codecs.Bound(n)
	return limit + limit/16 + slack
}

// WorkMemory implements [volume.MemoryReporter].
func (m *Mag) WorkMemory(volume.Grid) int {
	n, _ := product(m.array.Type.Size(), m.part)
	work := codec.Scratch(m.array.Codecs, n)
	switch stored := m.storedLimit(m.part); {
	case m.array.streamDecoder() != nil:
		work += min(stored, codec.LatePiece)
	case m.array.partDecoder() != (codec.Raw{}):
		work += stored
	}
	if !m.layout(0, m.part).isPacked(n / m.array.Type.Size()) {
		work += n
	}
	return work
}

// checkSize fails if a chunk is longer than any encoder makes it. So such a chunk takes no memory.
func (c *cube) checkSize(b volume.Vec, p piece) error {
	if limit := c.storedLimit(c.array.block()); p.size > int64(limit) {
		return c.broken(b, p, fmt.Sprintf("at most %d bytes", limit), fmt.Sprint(p.size))
	}
	if p.size == 0 {
		return c.broken(b, p, "1 byte or more", "0")
	}
	return nil
}

// slack is for headers of a chunk, and for encoders that waste some bytes.
const slack = 1 << 16

// entry is an entry of a shard index.
type entry struct{ offset, size uint64 }

func (e entry) isAbsent() bool { return e.offset == math.MaxUint64 && e.size == math.MaxUint64 }

// entry returns the entry of a chunk in the index of a shard. The shard has the given level and lies at the extent of
// p. outer is its size in elements. first is the first element of the chunk, from the start of the shard.
func (c *cube) entry(ctx context.Context, p piece, level int, outer, first []int) (entry, error) {
	s := c.array.Shards[level]
	index, err := c.indexOf(p, level, outer)
	if err != nil {
		return entry{}, err
	}
	n := 0
	for _, axis := range s.Order {
		n = n*(outer[axis]/s.Inner[axis]) + first[axis]/s.Inner[axis]
	}
	index.key.page = n * entryBytes / c.indexes.page
	page, err := c.page(ctx, p, index)
	if err != nil {
		return entry{}, err
	}
	e := s.entry(page, n*entryBytes%c.indexes.page)
	indexAt := s.indexAt(p.size, index.stored)
	if expected := e.misplaced(p.size, indexAt, indexAt+int64(index.stored)); expected != "" {
		return e, c.parts[p.part].Broken(fmt.Sprintf("shard index, entry %d,", n), index.at+int64(entryBytes*n), expected,
			fmt.Sprintf("%d bytes at byte %d", e.size, e.offset))
	}
	return e, nil
}

// misplaced says where a chunk may lie in a shard of n bytes whose index has the bytes [start, end), if it lies
// elsewhere. Otherwise it returns "".
func (e entry) misplaced(n, start, end int64) string {
	switch {
	case e.isAbsent():
	case e.offset > uint64(n) || e.size > uint64(n)-e.offset:
		return fmt.Sprintf("a range within the %d bytes of the shard", n)
	case e.offset < uint64(end) && e.offset+e.size > uint64(start):
		return fmt.Sprintf("a range outside of the index at bytes %d to %d", start, end)
	}
	return ""
}

// partName returns the name of a chunk in errors: the box of its voxels.
func (c *cube) partName(b volume.Vec) string { return "chunk " + c.blockBox(b).String() }

func (c *cube) broken(b volume.Vec, p piece, expected, found string) error {
	return c.parts[p.part].Broken(c.partName(b), p.offset, expected, found)
}
