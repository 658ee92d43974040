package hdf5

import (
	"fmt"
	"math/bits"
)

// Layout says how a dataset is stored (IV.A.2.i).
type Layout uint8

// The layouts.
const (
	Compact    Layout = 0 // in the header
	Contiguous Layout = 1 // in one piece of the file
	Chunked    Layout = 2
	Virtual    Layout = 3 // in other datasets
)

func (l Layout) String() string {
	if int(l) < 4 {
		return [4]string{"compact", "contiguous", "chunked", "virtual"}[l]
	}
	return fmt.Sprint(uint8(l))
}

// The indexes of chunks.
const (
	indexTree1 = iota // layouts 1 to 3
	indexSingle
	indexImplicit
	indexFixed
	indexExtensible
	indexTree2
)

// The flags of layout 4.
const (
	rawEdges       = 1 << 0 // chunks over the edge of the dataset are not filtered
	singleFiltered = 1 << 1
)

// layout is a data layout message.
type layout struct {
	class   Layout
	version uint8
	addr    uint64 // of the data or of the index of chunks
	size    uint64 // contiguous, if hasSize
	hasSize bool
	data    []byte // compact

	// chunked
	chunk  []uint64 // the last one is the bytes of an element
	index  uint8
	flags  uint8
	single entry    // index single, filtered
	params [5]uint8 // of fixed and extensible arrays
}

func (f *File) readLayout(m message) (layout, error) {
	m, err := f.resolve(m)
	if err != nil {
		return layout{}, err
	}
	c := f.body(m, "layout")
	l := layout{addr: undefined, version: c.u8("version")}
	switch l.version {
	case 1, 2:
		l.readOld(c)
	case 3:
		l.class = Layout(c.expect("class", 0, 1, 2))
		if l.class != Chunked {
			l.readUnchunked(c)
			break
		}
		rank := l.rank(c)
		l.addr = c.address("B-tree")
		l.readChunk(c, rank, 4)
	case 4, 5:
		l.class = Layout(c.expect("class", 0, 1, 2, 3))
		switch l.class {
		case Chunked:
			l.readIndex(c)
		case Virtual:
			l.addr = c.address("global heap")
			c.u32("index")
		default:
			l.readUnchunked(c)
		}
	default:
		if c.err == nil {
			c.err = notSupported("version %d of the layout", l.version)
		}
	}
	return l, c.err
}

// readOld reads the rest of versions 1 and 2.
func (l *layout) readOld(c *cursor) {
	rank := l.rank(c)
	l.class = Layout(c.expect("class", 0, 1, 2))
	c.skip(5)
	if l.class != Compact {
		l.addr = c.address("address")
	}
	if l.class == Chunked {
		l.readChunk(c, rank, 4)
		return
	}
	c.skip(4 * rank) // dimensions
	if l.class == Compact {
		l.data = c.take(int(c.u32("size")), "data")
	}
}

func (l *layout) readUnchunked(c *cursor) {
	if l.class == Compact {
		l.data = c.take(int(c.u16("size")), "data")
		return
	}
	l.addr, l.size, l.hasSize = c.address("address"), c.length("size"), true
}

func (l *layout) rank(c *cursor) int {
	rank := int(c.u8("rank"))
	if rank > maxRank+1 {
		c.bad("rank", fmt.Sprintf("at most %d", maxRank+1), rank)
	}
	return rank
}

// readChunk reads the size of a chunk. Each number has width bytes.
func (l *layout) readChunk(c *cursor, rank, width int) {
	if c.err != nil {
		return
	}
	if rank < 2 {
		c.bad("rank", "2 or more: the last is that of an element", rank)
	}
	if width < 1 || width > 8 {
		c.bad("bytes of a dimension", "1 to 8", width)
	}
	for range rank {
		if c.err != nil {
			return
		}
		n := c.uint(width, "dimension of a chunk")
		if n == 0 {
			c.bad("dimension of a chunk", "1 or more", 0)
		}
		l.chunk = append(l.chunk, n)
	}
}

// readIndex reads the rest of a chunked layout 4 or 5.
func (l *layout) readIndex(c *cursor) {
	l.flags = c.u8("flags")
	rank := l.rank(c)
	l.readChunk(c, rank, int(c.u8("bytes of a dimension")))
	l.index = c.expect("index of chunks", indexSingle, indexImplicit, indexFixed, indexExtensible, indexTree2)
	switch l.index {
	case indexSingle:
		if l.flags&singleFiltered != 0 {
			size := c.length("size of the chunk")
			if size > 1<<32-1 {
				c.bad("size of the chunk", "fewer than 2^32", size)
			}
			l.single.size, l.single.mask = uint32(size), c.u32("filter mask")
		}
	case indexFixed:
		l.params[0] = c.u8("page bits")
	case indexExtensible:
		copy(l.params[:], c.take(5, "parameters"))
	case indexTree2:
		c.skip(4 + 1 + 1) // the header of the tree has these, too
	}
	l.addr = c.address("address of the index")
}

// sizeWidth returns the bytes of the size of a filtered chunk in an index of layout 4 and 5.
func (l *layout) sizeWidth(chunkBytes int) int {
	if l.version >= 5 {
		return 8
	}
	return min(8, 1+(bits.Len(uint(chunkBytes))-1+8)/8)
}
