package hdf5

import (
	"fmt"
	"slices"
)

// readType reads the datatype of a message (IV.A.2.d).
func (f *File) readType(m message) (Datatype, error) {
	m, err := f.resolve(m)
	if err != nil {
		return Datatype{}, err
	}
	c := f.body(m, "datatype")
	t := f.parseType(c, 0)
	return t, c.err
}

// parseType reads a datatype, which may have others in it.
func (f *File) parseType(c *cursor, depth int) Datatype {
	if depth > f.limit.nested {
		c.bad("depth", fmt.Sprintf("at most %d datatypes in each other", f.limit.nested), "more")
		return Datatype{}
	}
	p := typeParser{File: f, cursor: c, depth: depth}
	head := c.u8("class and version")
	p.version, p.t.Class = head>>4, Class(head&15)
	p.flags = uint32(c.uint(3, "flags"))
	p.t.Size = int(c.u32("size"))
	if c.err == nil && (p.version < 1 || p.version > 5) {
		c.bad("version", "1 to 5", p.version)
	}
	if c.err == nil && p.t.Size == 0 {
		c.bad("size", "1 byte or more", 0)
	}
	if c.err == nil {
		p.class()
	}
	return p.t
}

type typeParser struct {
	*File
	*cursor
	t       Datatype
	version uint8
	flags   uint32
	depth   int
}

// class reads the properties of the class.
func (p *typeParser) class() {
	t, flags := &p.t, p.flags
	switch t.Class {
	case ClassInteger, ClassBitField:
		t.BigEndian, t.Signed = flags&1 != 0, flags&8 != 0 && t.Class == ClassInteger
		p.fields()
	case ClassFloat:
		p.float()
	case ClassTime:
		t.BigEndian = flags&1 != 0
		t.Precision = int(p.u16("precision"))
	case ClassString:
		t.Padding, t.UTF8 = Padding(flags&15), flags>>4&15 == 1
	case ClassOpaque:
		tag := p.take(int(flags&255), "tag")
		if i := slices.Index(tag, 0); i >= 0 {
			tag = tag[:i]
		}
		t.Tag = string(tag)
	case ClassCompound:
		p.compound()
	case ClassReference:
		t.Reference = uint8(flags & 15)
	case ClassEnum:
		p.enum()
	case ClassVariable:
		t.IsString, t.Padding, t.UTF8 = flags&15 == 1, Padding(flags>>4&15), flags>>8&15 == 1
		p.base()
	case ClassArray:
		p.array()
	case ClassComplex:
		p.base()
	default:
		p.bad("class", "0 to 11", uint8(t.Class))
	}
}

// fields reads which bits of a number have its value.
func (p *typeParser) fields() {
	p.t.Offset, p.t.Precision = int(p.u16("bit offset")), int(p.u16("bit precision"))
	if bits := p.t.Offset + p.t.Precision; p.err == nil && (p.t.Precision == 0 || bits > 8*p.t.Size) {
		p.bad("bit precision", fmt.Sprintf("1 to %d bits from bit %d", 8*p.t.Size-p.t.Offset, p.t.Offset),
			p.t.Precision)
	}
}

// float reads the fields of a floating-point number.
func (p *typeParser) float() {
	t, flags := &p.t, p.flags
	p.fields()
	found := [7]uint32{uint32(t.Offset), uint32(t.Precision), uint32(p.u8("exponent location")),
		uint32(p.u8("exponent size")),
		uint32(p.u8("mantissa location")), uint32(p.u8("mantissa size")), p.u32("exponent bias")}
	if p.err != nil {
		return
	}
	t.BigEndian = flags&1 != 0
	if flags&(1<<6) != 0 {
		p.err = notSupported("a floating-point number of a VAX")
		return
	}
	ieee := map[int][7]uint32{
		2: {0, 16, 10, 5, 0, 10, 15},
		4: {0, 32, 23, 8, 0, 23, 127},
		8: {0, 64, 52, 11, 0, 52, 1023},
	}
	implied, sign := flags>>4&3 == 2, int(flags>>8&255)
	t.IEEE = found == ieee[t.Size] && implied && sign == 8*t.Size-1
}

// base reads the datatype that another is made of.
func (p *typeParser) base() {
	if p.err == nil {
		t := p.parseType(p.cursor, p.depth+1)
		p.t.Base = &t
	}
}

func (p *typeParser) array() {
	if p.version < 2 {
		p.bad("version of an array", "2 or more", p.version)
		return
	}
	rank := int(p.u8("rank"))
	if p.version == 2 {
		p.skip(3)
	}
	if rank > maxRank {
		p.bad("rank", fmt.Sprintf("at most %d", maxRank), rank)
		return
	}
	elements, ok := uint64(1), true
	for range rank {
		n := uint64(p.u32("dimension"))
		p.t.Dims = append(p.t.Dims, n)
		if elements, ok = product(elements, n); !ok {
			p.bad("dimensions", "fewer than 2^63 elements", p.t.Dims)
		}
	}
	if p.version == 2 {
		p.skip(4 * rank)
	}
	p.base()
	if p.err != nil {
		return
	}
	if n, ok := product(elements, uint64(p.t.Base.Size)); !ok || n != uint64(p.t.Size) {
		p.bad("size of an array", fmt.Sprintf("%d elements of %d bytes", elements, p.t.Base.Size), p.t.Size)
	}
}

func (p *typeParser) enum() {
	n := int(p.flags & 0xffff)
	p.base()
	if p.err != nil {
		return
	}
	if p.t.Base.Size != p.t.Size || p.t.Base.Class != ClassInteger {
		p.bad("base of an enumeration", fmt.Sprintf("an integer of %d bytes", p.t.Size), p.t.Base.Size)
		return
	}
	p.t.Signed, p.t.BigEndian = p.t.Base.Signed, p.t.Base.BigEndian
	p.t.Precision, p.t.Offset = p.t.Base.Precision, p.t.Base.Offset
	for range n {
		name := p.name(p.version < 3, "name of a member")
		if p.err != nil {
			return
		}
		p.t.Members = append(p.t.Members, Member{Name: name})
	}
	for i := range p.t.Members {
		p.t.Members[i].Value = p.take(p.t.Size, "value of a member")
	}
}

func (p *typeParser) compound() {
	n := int(p.flags & 0xffff)
	for range n {
		m := Member{Name: p.name(p.version < 3, "name of a member")}
		var dims []uint64
		if p.version >= 3 {
			m.Offset = int(p.uint(widthOf(uint64(p.t.Size)), "offset of a member"))
		} else {
			m.Offset = int(p.u32("offset of a member"))
		}
		if p.version == 1 {
			dims = p.oldDims()
		}
		if p.err != nil {
			return
		}
		t := p.parseType(p.cursor, p.depth+1)
		if p.err != nil {
			return
		}
		if m.Type = &t; len(dims) > 0 {
			m.Type = p.oldArray(&t, dims)
		}
		if m.Type == nil || m.Offset > p.t.Size || m.Type.Size > p.t.Size-m.Offset {
			p.bad("offset of a member", fmt.Sprintf("a member inside %d bytes", p.t.Size), m.Offset)
			return
		}
		p.t.Members = append(p.t.Members, m)
	}
}

// oldDims reads the dimensions that members of version 1 have.
func (p *typeParser) oldDims() []uint64 {
	rank := int(p.u8("rank of a member"))
	p.skip(3 + 4 + 4)
	if rank > 4 {
		p.bad("rank of a member", "at most 4", rank)
	}
	var dims []uint64
	for i := range 4 {
		if n := uint64(p.u32("dimension of a member")); i < rank {
			dims = append(dims, n)
		}
	}
	return dims
}

// oldArray returns an array of a type, or nil if it is too large.
func (p *typeParser) oldArray(base *Datatype, dims []uint64) *Datatype {
	size, ok := uint64(base.Size), true
	for _, n := range dims {
		if size, ok = product(size, n); !ok {
			return nil
		}
	}
	return &Datatype{Class: ClassArray, Size: int(size), Base: base, Dims: dims}
}

// widthOf returns how many bytes a number up to v takes.
func widthOf(v uint64) int {
	n := 1
	for v >>= 8; v > 0; v >>= 8 {
		n++
	}
	return n
}
