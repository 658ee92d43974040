package hdf5

import (
	"errors"
	"fmt"
)

// nbit has only the bits of values that mean something, the most significant first.
type nbit struct {
	stored   bool // all bits, as they are
	elements int
	size     int // bytes of an element
	fields   []nbitField
	bits     uint64 // of an element
}

// nbitField is a number in an element, or bytes that are stored as they are: precision is 0 then.
type nbitField struct {
	at, size          int
	bigEndian         bool
	precision, offset int
}

// The classes of parameters.
const (
	nbitAtomic   = 1
	nbitArray    = 2
	nbitCompound = 3
	nbitBytes    = 4
)

// maxFields is the most numbers that an element may have.
const maxFields = 1 << 12

var errNBit = errors.New("filter n-bit: the parameters are damaged")

// newNBit reads the parameters: their number, whether the bits are stored as they are, the elements, and the type.
func newNBit(p []uint32, chunkBytes int) (decoder, error) {
	if len(p) < 3 {
		return nil, errNBit
	}
	n := nbit{stored: p[1] != 0, elements: int(p[2])}
	if n.stored {
		return n, nil
	}
	r := nbitParser{p: p[3:]}
	n.size = r.field(&n, 0, 0)
	if r.err != nil {
		return nil, r.err
	}
	if n.elements > chunkBytes || n.size < 1 || n.elements*n.size != chunkBytes {
		return nil, fmt.Errorf("filter n-bit: expected the elements of a chunk of %d bytes, found %d of %d bytes",
			chunkBytes, n.elements, n.size)
	}
	for _, f := range n.fields {
		if f.precision == 0 {
			n.bits += 8 * uint64(f.size)
		} else {
			n.bits += uint64(f.precision)
		}
	}
	return n, nil
}

type nbitParser struct {
	p   []uint32
	err error
}

func (r *nbitParser) next() int {
	if len(r.p) == 0 {
		r.err = errNBit
		return 0
	}
	v := r.p[0]
	r.p = r.p[1:]
	if v > 1<<30 {
		r.err = errNBit
		return 0
	}
	return int(v)
}

// field reads the parameters of a type that is at a byte of the element, and returns its bytes.
func (r *nbitParser) field(n *nbit, at, depth int) int {
	if depth > 32 || len(n.fields) > maxFields {
		r.err = errNBit
	}
	class, size := r.next(), r.next()
	if r.err != nil {
		return 0
	}
	switch class {
	case nbitAtomic:
		f := nbitField{at: at, size: size, bigEndian: r.next() == 1, precision: r.next(), offset: r.next()}
		if f.precision < 1 || size > 8 || f.precision+f.offset > 8*size {
			r.err = errNBit
		}
		n.fields = append(n.fields, f)
	case nbitBytes:
		n.fields = append(n.fields, nbitField{at: at, size: size})
	case nbitArray:
		r.array(n, at, size, depth)
	case nbitCompound:
		for range r.next() {
			if r.err != nil {
				return 0
			}
			if offset := r.next(); r.field(n, at+offset, depth+1)+offset > size {
				r.err = errNBit
			}
		}
	default:
		r.err = errNBit
	}
	return size
}

// array reads the parameters of an array of size bytes: its fields are those of each of its elements.
func (r *nbitParser) array(n *nbit, at, size, depth int) {
	start := len(n.fields)
	one := r.field(n, at, depth+1)
	if r.err != nil || one < 1 || size%one != 0 || size/one*(len(n.fields)-start) > maxFields {
		r.err = errNBit
		return
	}
	base := n.fields[start:]
	for shift := one; shift < size; shift += one {
		for _, f := range base {
			f.at += shift
			n.fields = append(n.fields, f)
		}
	}
}

func (n nbit) Decode(dst, src []byte, limit int) ([]byte, error) {
	if n.stored {
		if len(src) > limit {
			return nil, fmt.Errorf("expected at most %d bytes, found %d", limit, len(src))
		}
		dst = room(dst, limit)
		return dst[:copy(dst, src)], nil
	}
	size := n.elements * n.size
	if size > limit {
		return nil, fmt.Errorf("expected at most %d decoded bytes, found %d", limit, size)
	}
	dst = room(dst, limit)[:size]
	r := bitReader{src: src}
	if err := r.need(n.bits * uint64(n.elements)); err != nil {
		return nil, err
	}
	if len(n.fields) == 1 && n.fields[0].precision > 0 && n.fields[0].size == n.size {
		n.numbers(&r, dst, n.fields[0])
		return dst, nil
	}
	clear(dst)
	for i := range n.elements {
		element := dst[i*n.size : (i+1)*n.size]
		for _, f := range n.fields {
			f.read(&r, element[f.at:f.at+f.size])
		}
	}
	return dst, nil
}

// numbers reads elements that are numbers.
func (n nbit) numbers(r *bitReader, dst []byte, f nbitField) {
	var held [256]uint64
	for len(dst) > 0 {
		values := held[:min(len(held), len(dst)/n.size)]
		r.readAll(values, f.precision)
		for i := range values {
			values[i] <<= f.offset
		}
		putAll(dst, values, n.size, f.bigEndian)
		dst = dst[len(values)*n.size:]
	}
}

// read reads the field into its bytes.
func (f *nbitField) read(r *bitReader, dst []byte) {
	if f.precision > 0 {
		put(dst, r.read(f.precision)<<f.offset, f.bigEndian)
		return
	}
	for i := range dst {
		dst[i] = byte(r.read(8))
	}
}

func (n nbit) Bound(size int) int { return size + size/8 + 64 }
func (nbit) String() string       { return "n-bit" }
