package hdf5

import (
	"bytes"
	"fmt"
	"math/bits"
)

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
	return nil, 0, &FormatError{Address: h.addr, Field: "fractal heap: offset", Expected: "inside the heap",
		Found: offset}
}

// place returns the row and the column of the block that has an offset, where the row starts, and the bytes of its
// blocks.
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
	c, err := h.indirect(addr, start, n)
	if err != nil {
		return heapChild{}, err
	}
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

// indirect returns an indirect block of n bytes.
func (h *fractalHeap) indirect(addr, start uint64, n int) (*cursor, error) {
	const what = "indirect block of a fractal heap"
	if b, ok := h.blocks.Get(addr); ok && len(b) == n {
		return &cursor{sizes: h.f.sizes, b: b, addr: addr, what: what}, nil
	}
	if err := h.spend(uint64(n)); err != nil {
		return nil, err
	}
	c, err := h.f.at(what, addr, uint64(n))
	if err != nil {
		return nil, err
	}
	h.checkBlock(c, "FHIB", start)
	if c.err != nil || verify(c) != nil {
		return nil, c.err
	}
	h.blocks.Put(addr, c.b, int64(n))
	return c, nil
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
	if err := h.spend(size); err != nil {
		return nil, err
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
