package hdf5

import (
	"bytes"
	"fmt"
	"math/bits"

	"github.com/wkwfs/wkwfs/internal/lru"
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

	blocks *lru.Cache[uint64, []byte] // direct ones, verified and decoded
	huge   map[uint64][]byte          // records of hugeTree by their key
}

const maxHeapBlock = 16 << 20

// fractalHeap reads the header of a heap.
func (f *File) fractalHeap(addr uint64) (*fractalHeap, error) {
	h := &fractalHeap{f: f, addr: addr, blocks: lru.New[uint64, []byte](cachedBytes)}
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

// managed returns n bytes of a direct block.
func (h *fractalHeap) managed(offset, n uint64) ([]byte, error) {
	b, start, err := h.direct(offset)
	if err != nil {
		return nil, err
	}
	at := offset - start
	if at > uint64(len(b)) || n > uint64(len(b))-at {
		return nil, &FormatError{Address: h.addr, Field: "fractal heap: object",
			Expected: fmt.Sprintf("inside a block of %d bytes", len(b)), Found: fmt.Sprintf("%d bytes at %d", n, at)}
	}
	return b[at : at+n : at+n], nil
}

// direct returns the direct block that has an offset, and the block's own offset.
func (h *fractalHeap) direct(offset uint64) ([]byte, uint64, error) {
	if h.rows == 0 {
		b, err := h.block(h.root, 0, h.first, h.rootSize, h.rootMask)
		return b, 0, err
	}
	addr, rows, start := h.root, h.rows, uint64(0)
	for range 65 {
		row, column, rowStart, size := h.place(offset - start)
		if row >= rows {
			break
		}
		e, err := h.child(addr, start, rows, row, column)
		if err != nil {
			return nil, 0, err
		}
		start += rowStart + column*size
		if size <= h.maxDirect {
			b, err := h.block(e.addr, start, size, e.size, e.mask)
			return b, start, err
		}
		addr, rows = e.addr, bits.Len64(size)-bits.Len64(h.first*h.width)+1
	}
	return nil, 0, &FormatError{Address: h.addr, Field: "fractal heap: offset", Expected: "inside the heap", Found: offset}
}

// place returns the row and the column of the block that has an offset, where the row starts, and the bytes of its blocks.
func (h *fractalHeap) place(offset uint64) (row int, column, rowStart, size uint64) {
	size = h.first
	if wide := h.first * h.width; offset >= wide {
		row = bits.Len64(offset / wide)
		rowStart = wide << (row - 1)
		size = h.first << (row - 1)
	}
	return row, (offset - rowStart) / size, rowStart, size
}

// heapChild is an entry of an indirect block.
type heapChild struct {
	addr, size uint64
	mask       uint32
}

// child reads an entry of an indirect block with rows.
func (h *fractalHeap) child(addr, start uint64, rows, row int, column uint64) (heapChild, error) {
	f := h.f
	directRows := bits.Len64(h.maxDirect) - bits.Len64(h.first) + 2
	entry, width := f.o, int(h.width)
	if h.filters != nil {
		entry += f.l + 4
	}
	head := 5 + f.o + h.offset
	direct := min(rows, directRows) * width
	n := head + direct*entry + max(0, rows-directRows)*width*f.o + 4
	c, err := f.at("indirect block of a fractal heap", addr, uint64(n))
	if err != nil {
		return heapChild{}, err
	}
	h.checkBlock(c, "FHIB", start)
	if c.err != nil {
		return heapChild{}, c.err
	}
	c.at = n - 4
	c.sum()
	if i := row*width + int(column); row < directRows {
		c.at = head + i*entry
	} else {
		c.at = head + direct*entry + (i-direct)*f.o
	}
	e := heapChild{addr: c.address("child")}
	if h.filters != nil && row < directRows {
		e.size, e.mask = c.length("bytes of a child"), c.u32("filter mask")
	}
	return e, c.err
}

// checkBlock reads the start of a block.
func (h *fractalHeap) checkBlock(c *cursor, signature string, start uint64) {
	c.signature(signature)
	c.expect("version", 0)
	if owner := c.address("heap"); c.err == nil && owner != h.addr {
		c.bad("heap", h.addr, owner)
	}
	if found := c.uint(h.offset, "offset"); c.err == nil && found != start {
		c.bad("offset", start, found)
	}
}

// block returns a direct block: its header, too.
func (h *fractalHeap) block(addr, start, size, stored uint64, mask uint32) ([]byte, error) {
	if b, ok := h.blocks.Get(addr); ok {
		return b, nil
	}
	const what = "direct block of a fractal heap"
	if h.filters == nil {
		stored = size
	}
	b, err := h.f.bytes(what, addr, stored)
	if err != nil {
		return nil, err
	}
	if h.filters != nil {
		decoded := make([]byte, size)
		if err := decodeFilters(h.filters, int(size), decoded, b, mask); err != nil {
			return nil, filterError(addr, what, err)
		}
		b = decoded
	}
	c := &cursor{sizes: h.f.sizes, b: b, addr: addr, what: what}
	h.checkBlock(c, "FHDB", start)
	if h.sums {
		at := c.at
		sum := c.u32("checksum")
		if c.err == nil {
			clear := bytes.Clone(b)
			copy(clear[at:], []byte{0, 0, 0, 0})
			if computed := lookup3(clear); computed != sum {
				c.bad("checksum", fmt.Sprintf("%08x", computed), fmt.Sprintf("%08x", sum))
			}
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	h.blocks.Put(addr, b, int64(len(b)))
	return b, nil
}

// hugeObject returns an object that has its own place in the file.
func (h *fractalHeap) hugeObject(c *cursor) ([]byte, error) {
	o, l := h.f.o, h.f.l
	inside := h.idBytes-1 >= o+l // the ID has the place itself
	if h.filters != nil {
		inside = h.idBytes-1 >= o+2*l+4
	}
	if !inside {
		record, err := h.hugeRecord(c.uint(min(8, min(l, h.idBytes-1)), "key"))
		if err != nil {
			return nil, err
		}
		c = &cursor{sizes: c.sizes, b: record, addr: h.hugeTree, what: "record of a huge object"}
	}
	addr, stored := c.address("address"), c.length("length")
	if h.filters == nil {
		if c.err != nil {
			return nil, c.err
		}
		return h.f.bytes("huge object", addr, stored)
	}
	mask, size := c.u32("filter mask"), c.length("decoded length")
	if c.err == nil && size > maxHeapBlock {
		c.bad("decoded length", fmt.Sprintf("at most %d", maxHeapBlock), size)
	}
	if c.err != nil {
		return nil, c.err
	}
	b, err := h.f.bytes("huge object", addr, stored)
	if err != nil {
		return nil, err
	}
	decoded := make([]byte, size)
	if err := decodeFilters(h.filters, int(size), decoded, b, mask); err != nil {
		return nil, filterError(addr, "huge object", err)
	}
	return decoded, nil
}

// hugeRecord returns the record of a key.
func (h *fractalHeap) hugeRecord(key uint64) ([]byte, error) {
	if h.huge == nil {
		t, err := h.f.tree2("B-tree of huge objects", h.hugeTree, 1, 2)
		if err != nil {
			return nil, err
		}
		all := map[uint64][]byte{}
		err = t.each(func(c *cursor) error {
			c.at = max(0, len(c.b)-h.f.l) // the key is the last
			if all[c.length("key")] = c.b; len(all) > h.f.limit.names {
				return notSupported("a heap of more than %d huge objects", h.f.limit.names)
			}
			return c.err
		}, stop)
		if err != nil {
			return nil, err
		}
		h.huge = all
	}
	record, ok := h.huge[key]
	if !ok {
		return nil, &FormatError{Address: h.hugeTree, Field: "B-tree of huge objects", Expected: fmt.Sprintf("the key %d", key),
			Found: "none"}
	}
	return record, nil
}
