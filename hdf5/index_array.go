package hdf5

import (
	"fmt"
	"math/bits"
)

// grown returns the chunks along each axis of the greatest size that the dataset may have. Arrays and the implicit
// index count in this grid, not in that of the present size.
func (d *Dataset) grown() []uint64 {
	var grid []uint64
	for i, n := range d.space.max {
		chunk := d.layout.chunk[i]
		grid = append(grid, n/chunk+min(1, n%chunk))
	}
	return grid
}

// implicit reports whether the chunks lie beside each other, without an index.
func (x *ChunkIndex) implicit() bool {
	return x.d.layout.class == Chunked && x.d.layout.index == indexImplicit && x.d.layout.addr != undefined
}

// checkImplicit checks that the dataset cannot grow without limit.
func (x *ChunkIndex) checkImplicit() error {
	cells, ok := uint64(1), true
	for _, n := range x.d.grown() {
		if cells, ok = product(cells, n); !ok {
			return x.notGrown()
		}
	}
	size, ok := product(cells, uint64(x.d.chunkBytes))
	if !ok || len(x.d.filters) > 0 {
		return x.notGrown()
	}
	// Those beyond the end of a file that was cut fail one by one, but nobody should count to 2^60.
	if room := uint64(x.d.file.pages.size) + uint64(x.d.file.limit.chunks)*uint64(x.d.chunkBytes); size > room {
		return &FormatError{Address: x.d.layout.addr, Field: "chunks without an index",
			Expected: "chunks inside the file",
			Found:    fmt.Sprintf("%d bytes", size)}
	}
	_, err := x.d.file.offset("chunks without an index", x.d.layout.addr, 0)
	return err
}

func (x *ChunkIndex) notGrown() error {
	return &FormatError{Address: x.d.header.addr, Field: "index of chunks",
		Expected: "limited dimensions without filters",
		Found:    x.d.space.max}
}

func (x *ChunkIndex) lookupImplicit(scaled []uint64) (Chunk, bool, error) {
	var i uint64
	for axis, n := range x.d.grown() {
		i = i*n + scaled[axis]
	}
	size := uint64(x.d.chunkBytes)
	c, err := x.place(entry{addr: x.d.layout.addr + i*size, size: uint32(size)}, scaled)
	return c, err == nil, err
}

// linear converts the index of a chunk in an array to its position. shape is the grid in which the array counts.
// order says which axis each of its axes is.
type linear struct {
	grid  []uint64 // how many chunks; that of the first axis does not matter
	order []int
}

func (l linear) position(i uint64, scaled []uint64) {
	for k := len(l.order) - 1; k > 0; k-- {
		scaled[l.order[k]] = i % l.grid[k]
		i /= l.grid[k]
	}
	scaled[l.order[0]] = i
}

// index is the inverse of position. It is false if there is none below 2^63.
func (l linear) index(scaled []uint64) (uint64, bool) {
	i := uint64(0)
	for k, axis := range l.order {
		var ok bool
		if k == 0 {
			i = scaled[axis]
			continue
		}
		if i, ok = product(i, l.grid[k]); !ok {
			return 0, false
		}
		i += scaled[axis]
	}
	return i, true
}

// arrayReader reads entries of fixed and extensible arrays.
type arrayReader struct {
	*ChunkIndex
	linear
	header uint64
	client uint8
	bytes  int // of an entry
	count  uint64
}

// add adds the next n entries of c, the first of which has an index.
func (r *arrayReader) entries(c *cursor, first, n uint64) error {
	scaled := make([]uint64, len(r.order))
	for i := range n {
		start := c.at
		e := r.readEntry(c)
		if c.err != nil {
			return c.err
		}
		c.at = start + r.bytes
		if e.addr == undefined {
			continue
		}
		r.position(first+i, scaled)
		if err := r.ChunkIndex.add(scaled, e); err != nil {
			return err
		}
	}
	return nil
}

// lost remembers that n entries cannot be read.
func (r *arrayReader) lost(err error, first, n uint64) error {
	return r.lose(err, r.elements(first, n))
}

// elements returns whether a position is one of n entries.
func (r *arrayReader) elements(first, n uint64) func(scaled []uint64) bool {
	l := r.linear
	return func(scaled []uint64) bool {
		i, ok := l.index(scaled)
		return ok && i >= first && i-first < n
	}
}

// readClient reads the fields that the headers of arrays have.
func (r *arrayReader) readClient(c *cursor) {
	c.expect("version", 0)
	filtered := uint8(0)
	if len(r.d.filters) > 0 {
		filtered = 1
	}
	r.client = c.expect("client", filtered)
	if r.bytes = int(c.u8("bytes of an element")); r.bytes != r.entryBytes() {
		c.bad("bytes of an element", r.entryBytes(), r.bytes)
	}
}

// openBlock reads n bytes of a block: the signature, the version, the client and the header that it belongs to.
func (r *arrayReader) openBlock(what, signature string, addr, n uint64) (*cursor, error) {
	c, err := r.d.file.at(what, addr, n)
	if err != nil {
		return nil, err
	}
	c.signature(signature)
	c.expect("version", 0)
	c.expect("client", r.client)
	if owner := c.address("header"); c.err == nil && owner != r.header {
		c.bad("header", r.header, owner)
	}
	return c, c.err
}

// verify checks the checksum at the end of c.
func verify(c *cursor) error {
	at := c.at
	c.at = len(c.b) - 4
	c.sum()
	c.at = at
	return c.err
}

// page reads a page of entries, which has a checksum of its own.
func (r *arrayReader) page(what string, addr, first, n uint64) error {
	c, err := r.d.file.at(what, addr, n*uint64(r.bytes)+4)
	if err == nil {
		err = verify(c)
	}
	if err != nil {
		return r.lost(err, first, n)
	}
	return r.entries(c, first, n)
}

// readFixed reads a fixed array (VII.C in Appendix C).
func (x *ChunkIndex) readFixed() error {
	f := x.d.file
	r := &arrayReader{ChunkIndex: x, header: x.d.layout.addr}
	r.linear = linear{grid: x.d.grown()}
	want, ok := uint64(1), true
	for axis, n := range r.linear.grid {
		r.order = append(r.order, axis)
		if want, ok = product(want, n); !ok {
			return x.notGrown()
		}
	}
	c, err := f.at("fixed array", r.header, uint64(12+f.l+f.o))
	if err != nil {
		return err
	}
	c.signature("FAHD")
	r.readClient(c)
	pageBits := c.u8("page bits")
	r.count = c.length("elements")
	block := c.address("data block")
	c.sum()
	switch {
	case c.err != nil:
		return c.err
	case r.count != want:
		c.bad("elements", want, r.count)
	case pageBits < 1 || pageBits > 32:
		c.bad("page bits", "1 to 32", pageBits)
	case block == undefined:
		return nil // no chunk was written
	case r.count > uint64(f.pages.size)/uint64(r.bytes):
		c.bad("elements", fmt.Sprintf("those that a file of %d bytes has", f.pages.size), r.count)
	}
	if c.err != nil {
		return c.err
	}
	if err := r.tooLarge(r.count); err != nil {
		return err
	}
	return r.fixedBlock(block, 1<<pageBits)
}

// fixedBlock reads the data block of a fixed array.
func (r *arrayReader) fixedBlock(addr, pageCount uint64) error {
	const what = "data block of a fixed array"
	head := uint64(6 + r.d.file.o)
	if r.count <= pageCount {
		c, err := r.openBlock(what, "FADB", addr, head+r.count*uint64(r.bytes)+4)
		if err != nil {
			return err
		}
		if err := verify(c); err != nil {
			return err
		}
		r.wants(r.elements(0, r.count))
		return r.entries(c, 0, r.count)
	}
	pages := (r.count + pageCount - 1) / pageCount
	c, err := r.openBlock(what, "FADB", addr, head+(pages+7)/8+4)
	if err != nil {
		return err
	}
	if err := verify(c); err != nil {
		return err
	}
	written := c.take(int((pages+7)/8), "written pages")
	page, end := uint64(0), pages
	if r.wanted != nil {
		i, _ := r.index(r.wanted)
		page = i / pageCount
		end = min(end, page+1)
	}
	for i := page; i < end; i++ {
		first := i * pageCount
		n := min(pageCount, r.count-first)
		if !r.wants(r.elements(first, n)) || !bit(written, i) {
			continue
		}
		at := addr + uint64(len(c.b)) + i*(pageCount*uint64(r.bytes)+4)
		if err := r.page("page of a fixed array", at, first, n); err != nil {
			return err
		}
	}
	return nil
}

// bit returns bit i. The first is the most significant one of a byte.
func bit(b []byte, i uint64) bool {
	return i/8 < uint64(len(b)) && bits.Reverse8(b[i/8])>>(i%8)&1 != 0
}
