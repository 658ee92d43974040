package hdf5

import "fmt"

// extensible reads an extensible array (Appendix C). Its elements are in the index block, then in data blocks,
// which super blocks list.
type extensible struct {
	arrayReader
	maxBits    int
	inIndex    uint64 // elements in the index block
	perBlock   uint64 // elements of the first data blocks
	pointers   uint64 // data blocks of a super block, at least
	perPage    uint64
	offsetSize int
}

// superBlock says which elements a super block has.
type superBlock struct {
	first    uint64 // element
	blocks   uint64
	elements uint64 // of a block
}

func (x *ChunkIndex) readExtensible() error {
	f := x.d.file
	r := &extensible{arrayReader: arrayReader{ChunkIndex: x, header: x.d.layout.addr}}
	if err := r.setOrder(); err != nil {
		return err
	}
	c, err := f.at("extensible array", r.header, uint64(16+6*f.l+f.o))
	if err != nil {
		return err
	}
	c.signature("EAHD")
	r.readClient(c)
	r.maxBits = int(c.u8("bits of an index"))
	r.inIndex = uint64(c.u8("elements of the index block"))
	r.perBlock = uint64(c.u8("elements of a data block"))
	r.pointers = uint64(c.u8("data blocks of a super block"))
	pageBits := int(c.u8("page bits"))
	for range 4 {
		c.length("statistics")
	}
	r.count = c.length("greatest index")
	c.length("elements")
	index := c.address("index block")
	c.sum()
	power := func(v uint64) bool { return v > 0 && v&(v-1) == 0 }
	switch {
	case c.err != nil:
	case !power(r.perBlock) || !power(r.pointers) || r.pointers < 2:
		c.bad("elements of blocks", "powers of 2", [2]uint64{r.perBlock, r.pointers})
	case r.maxBits > 64 || r.maxBits < log2(r.perBlock)+1:
		c.bad("bits of an index", fmt.Sprintf("%d to 64", log2(r.perBlock)+1), r.maxBits)
	case pageBits < 1 || pageBits > 32:
		c.bad("page bits", "1 to 32", pageBits)
	}
	if c.err != nil || index == undefined {
		return c.err
	}
	if err := r.tooLarge(r.count); err != nil {
		return err
	}
	r.perPage, r.offsetSize = 1<<pageBits, (r.maxBits+7)/8
	return r.indexBlock(index)
}

// setOrder puts the axis without a limit first: the array grows along it.
func (r *extensible) setOrder() error {
	d := r.d
	grid := d.grown()
	free := -1
	for axis, n := range d.space.max {
		if n != Unlimited {
			continue
		}
		if free >= 0 {
			return r.oneAxis()
		}
		free = axis
	}
	if free < 0 {
		return r.oneAxis()
	}
	r.order = append(r.order, free)
	r.linear.grid = append(r.linear.grid, Unlimited)
	cells, ok := uint64(1), true
	for axis, n := range grid {
		if axis == free {
			continue
		}
		r.order = append(r.order, axis)
		r.linear.grid = append(r.linear.grid, n)
		if cells, ok = product(cells, n); !ok || n == 0 {
			return r.oneAxis()
		}
	}
	return nil
}

func (r *extensible) oneAxis() error {
	return &FormatError{Address: r.d.header.addr, Field: "index of chunks", Expected: "one axis without a limit",
		Found: r.d.space.max}
}

// supers returns all super blocks, those of the index block first.
func (r *extensible) supers() []superBlock {
	var all []superBlock
	first := r.inIndex
	for k := range 1 + r.maxBits - log2(r.perBlock) {
		s := superBlock{first: first, blocks: 1 << (k / 2), elements: r.perBlock << ((k + 1) / 2)}
		all = append(all, s)
		if first += s.blocks * s.elements; first > 1<<62 {
			break
		}
	}
	return all
}

// indexBlock reads the index block, and what it lists.
func (r *extensible) indexBlock(addr uint64) error {
	o := r.d.file.o
	supers := r.supers()
	direct := min(len(supers), 2*log2(r.pointers)) // super blocks whose data blocks the index block lists
	blocks := uint64(0)
	for _, s := range supers[:direct] {
		blocks += s.blocks
	}
	listed := 1 + r.maxBits - log2(r.perBlock) - direct // also those that no index reaches
	n := uint64(6+o) + r.inIndex*uint64(r.bytes) + (blocks+uint64(max(0, listed)))*uint64(o) + 4
	c, err := r.openBlock("index block of an extensible array", "EAIB", addr, n)
	if err != nil {
		return err
	}
	if err := verify(c); err != nil {
		return err
	}
	r.wants(r.elements(0, r.inIndex))
	if err := r.entries(c, 0, r.inIndex); err != nil {
		return err
	}
	number := uint64(0) // of the data block
	for _, s := range supers[:direct] {
		for i := range s.blocks {
			// The library counts all blocks before this one as long as it, and stores that as their offset.
			offset := s.first - r.inIndex + number*s.elements
			b := dataBlock{addr: c.address("data block"), first: s.first + i*s.elements, n: s.elements, offset: offset}
			if err := r.dataBlock(b); err != nil {
				return err
			}
			number++
		}
	}
	for _, s := range supers[direct:] {
		at := c.address("super block")
		if c.err == nil && r.wants(r.elements(s.first, s.blocks*s.elements)) && at != undefined {
			if err := r.superBlock(at, s); err != nil {
				return err
			}
		}
	}
	return c.err
}

// superBlock reads a super block, and its data blocks.
func (r *extensible) superBlock(addr uint64, s superBlock) error {
	pages, bitmap := uint64(0), uint64(0) // of a data block
	if s.elements > r.perPage {
		pages = s.elements / r.perPage
		bitmap = (pages + 7) / 8
	}
	o := r.d.file.o
	const most = 1 << 24
	if s.blocks > most || bitmap > most {
		return r.lost(notReached(addr), s.first, s.blocks*s.elements)
	}
	n := uint64(6+o+r.offsetSize) + s.blocks*(bitmap+uint64(o)) + 4
	c, err := r.openBlock("super block of an extensible array", "EASB", addr, n)
	if err == nil {
		err = verify(c)
	}
	if err == nil {
		err = r.checkOffset(c, s.first-r.inIndex, s.first-r.inIndex)
	}
	if err != nil {
		return r.lost(err, s.first, s.blocks*s.elements)
	}
	written := c.take(int(s.blocks*bitmap), "written pages")
	for i := range s.blocks {
		b := dataBlock{addr: c.address("data block"), first: s.first + i*s.elements, n: s.elements, written: written,
			page: i * pages}
		b.offset = b.first - r.inIndex
		if err := r.dataBlock(b); err != nil {
			return err
		}
	}
	return c.err
}

// checkOffset checks the index of the first element of a block, which does not count those of the index block. It
// has one of two values.
func (r *extensible) checkOffset(c *cursor, offset, other uint64) error {
	if found := c.uint(min(8, r.offsetSize), "offset"); c.err == nil && found != offset && found != other {
		c.bad("offset", offset, found)
	}
	return c.err
}

func notReached(addr uint64) error {
	return &FormatError{Address: addr, Field: "super block of an extensible array",
		Expected: "at most 2^24 blocks and pages",
		Found:    "more"}
}

// dataBlock is a data block of n elements from the first. If it has pages, written has a bit for each of them, from
// bit page on.
type dataBlock struct {
	addr, first, n, offset uint64
	written                []byte
	page                   uint64
}

func (r *extensible) dataBlock(b dataBlock) error {
	const what = "data block of an extensible array"
	if !r.wants(r.elements(b.first, b.n)) || b.addr == undefined {
		return nil
	}
	size := uint64(6+r.d.file.o+r.offsetSize) + 4
	paged := b.n > r.perPage
	if !paged {
		size += b.n * uint64(r.bytes)
	}
	c, err := r.openBlock(what, "EADB", b.addr, size)
	if err == nil {
		err = verify(c)
	}
	if err == nil {
		err = r.checkOffset(c, b.offset, b.first-r.inIndex)
	}
	if err != nil {
		return r.lost(err, b.first, b.n)
	}
	if !paged {
		return r.entries(c, b.first, b.n)
	}
	for i := range b.n / r.perPage {
		first := b.first + i*r.perPage
		if !r.wants(r.elements(first, r.perPage)) || !bit(b.written, b.page+i) {
			continue
		}
		at := b.addr + size + i*(r.perPage*uint64(r.bytes)+4)
		if err := r.page("page of an extensible array", at, first, r.perPage); err != nil {
			return err
		}
	}
	return nil
}
