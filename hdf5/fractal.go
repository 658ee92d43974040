package hdf5

import (
	"fmt"

	"github.com/wkwfs/wkwfs/internal/small/lru"
)

// fractalHeap has the links or attributes of an object (III.G).
type fractalHeap struct {
	f         *File
	addr      uint64
	idBytes   int
	sums      bool // direct blocks have checksums
	hugeTree  uint64
	width     uint64 // blocks of a row
	first     uint64 // bytes of a block of the rows 0 and 1
	maxDirect uint64
	offset    int // bytes of an offset
	lengthIn  int // bytes of a length
	rows      int // of the root; 0 if it is a direct block
	root      uint64
	rootSize  uint64 // filtered
	rootMask  uint32
	filters   []Filter

	blocks *lru.Cache[uint64, []byte] // verified and decoded
	work   int                        // bytes of blocks and huge objects that were read
	huge   map[uint64][]byte          // records of hugeTree by their key
}

const (
	maxHeapBlock = 16 << 20
	heapBytes    = 32 << 20 // of the blocks of a heap that are kept while it is read
)

// spend counts bytes that are read. Records may lead to the same bytes many times.
func (h *fractalHeap) spend(n uint64) error {
	if n > uint64(h.f.limit.heapWork) || h.work > h.f.limit.heapWork-int(n) {
		return notSupported("a heap whose objects take more than %d bytes to read", h.f.limit.heapWork)
	}
	h.work += int(n)
	return nil
}

// fractalHeap reads the header of a heap.
func (f *File) fractalHeap(addr uint64) (*fractalHeap, error) {
	h := &fractalHeap{f: f, addr: addr, blocks: lru.New[uint64, []byte](heapBytes)}
	c, err := f.at("fractal heap", addr, 14)
	if err != nil {
		return nil, err
	}
	c.signature("FRHP")
	c.expect("version", 0)
	h.idBytes = int(c.u16("bytes of an ID"))
	filters := int(c.u16("bytes of filters"))
	h.sums = c.u8("flags")&2 != 0
	maxManaged := uint64(c.u32("largest managed object"))
	if c.err != nil {
		return nil, c.err
	}
	n := 26 + 12*f.l + 3*f.o
	if filters > 0 {
		n += f.l + 4 + filters
	}
	if c, err = f.at("fractal heap", addr, uint64(n)); err != nil {
		return nil, err
	}
	h.read(c, filters, maxManaged)
	return h, c.err
}

// read reads what is after the first 14 bytes.
func (h *fractalHeap) read(c *cursor, filters int, maxManaged uint64) {
	c.skip(14)
	c.length("next huge ID")
	h.hugeTree = c.address("B-tree of huge objects")
	c.length("free space")
	c.address("free space manager")
	for range 8 { // sizes and counts of managed, huge and tiny objects
		c.length("statistics")
	}
	h.width = uint64(c.u16("blocks of a row"))
	h.first = c.length("bytes of the first block")
	h.maxDirect = c.length("bytes of the largest direct block")
	heapBits := int(c.u16("bits of an offset"))
	c.u16("first rows")
	h.root = c.address("root block")
	h.rows = int(c.u16("rows"))
	if filters > 0 {
		h.rootSize, h.rootMask = c.length("bytes of the root"), c.u32("filter mask")
		sub := &cursor{sizes: c.sizes, b: c.take(filters, "filters"), addr: c.addr, what: c.what}
		if h.filters = readFilters(sub); sub.err != nil && c.err == nil {
			c.err = sub.err
		}
	}
	c.sum()
	h.offset = (heapBits + 7) / 8
	h.lengthIn = widthOf(min(h.maxDirect, maxManaged))
	power := func(v uint64) bool { return v > 0 && v&(v-1) == 0 }
	switch {
	case c.err != nil:
	case !power(h.width) || h.width > 1<<12:
		c.bad("blocks of a row", "a power of 2, at most 4096", h.width)
	case !power(h.first) || !power(h.maxDirect) || h.first > h.maxDirect || h.maxDirect > maxHeapBlock:
		c.bad("bytes of blocks", fmt.Sprintf("powers of 2 up to %d", maxHeapBlock), [2]uint64{h.first, h.maxDirect})
	case heapBits < 1 || heapBits > 64:
		c.bad("bits of an offset", "1 to 64", heapBits)
	case h.rows > 64:
		c.bad("rows", "at most 64", h.rows)
	}
}

// object returns the object with an ID. It is shared.
func (h *fractalHeap) object(id []byte) ([]byte, error) {
	c := &cursor{sizes: h.f.sizes, b: id, addr: h.addr, what: "heap ID"}
	head := c.u8("flags")
	if c.err == nil && head>>6 != 0 {
		c.bad("version", 0, head>>6)
	}
	switch kind := head >> 4 & 3; kind {
	case 0:
		offset, n := c.uint(h.offset, "offset"), c.uint(h.lengthIn, "length")
		if c.err != nil {
			return nil, c.err
		}
		return h.managed(offset, n)
	case 1:
		return h.hugeObject(c)
	case 2:
		n := int(head&15) + 1
		if h.idBytes > 18 { // the length has 12 bits
			n = int(head&15)<<8 | int(c.u8("length")) + 1
		}
		b := c.take(n, "tiny object")
		return b, c.err
	default:
		c.bad("type", "0, 1 or 2", kind)
		return nil, c.err
	}
}
