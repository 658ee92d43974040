package hdf5

import (
	"encoding/binary"
	"fmt"
)

// undefined is the address of what does not exist.
const undefined = ^uint64(0)

// sizes has the bytes of an address (O in the specification) and of a length (L).
type sizes struct {
	o, l     int
	unsealed bool // checksums are not compared, for a fuzzer, which cannot make right ones
}

// A cursor reads the fields of a structure one after the other. After the first error all fields are 0, so it is
// enough to look at err before a field is used to allocate, to count or to find something.
type cursor struct {
	sizes
	b    []byte
	at   int
	addr uint64 // of b[0]
	what string // the structure, for messages
	err  error
}

// left returns how many bytes are left.
func (c *cursor) left() int { return len(c.b) - c.at }

// bad sets the error, unless there is one.
func (c *cursor) bad(field string, expected, found any) {
	if c.err == nil {
		c.err = &FormatError{Address: c.addr + uint64(c.at), Field: c.what + ": " + field, Expected: expected,
			Found: found}
	}
}

// take returns the next n bytes, which are shared.
func (c *cursor) take(n int, field string) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > c.left() {
		c.bad(field, fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d bytes", c.left()))
		return nil
	}
	b := c.b[c.at : c.at+n : c.at+n]
	c.at += n
	return b
}

func (c *cursor) skip(n int) { c.take(n, "reserved bytes") }

// uint returns a number of n bytes, at most 8.
func (c *cursor) uint(n int, field string) uint64 {
	var word [8]byte
	copy(word[:], c.take(n, field))
	return binary.LittleEndian.Uint64(word[:])
}

func (c *cursor) u8(field string) uint8   { return uint8(c.uint(1, field)) }
func (c *cursor) u16(field string) uint16 { return uint16(c.uint(2, field)) }
func (c *cursor) u32(field string) uint32 { return uint32(c.uint(4, field)) }
func (c *cursor) u64(field string) uint64 { return c.uint(8, field) }

// address returns an address. All ones are the undefined one, whatever its width.
func (c *cursor) address(field string) uint64 { return c.ones(c.o, field) }

// length returns a length. All ones are [Unlimited].
func (c *cursor) length(field string) uint64 { return c.ones(c.l, field) }

func (c *cursor) ones(n int, field string) uint64 {
	v := c.uint(n, field)
	if n < 8 && v == 1<<(8*n)-1 {
		return undefined
	}
	return v
}

// expect reads a byte that must have one of some values.
func (c *cursor) expect(field string, values ...uint8) uint8 {
	at := c.at
	v := c.u8(field)
	for _, one := range values {
		if v == one {
			return v
		}
	}
	if c.err == nil {
		c.at = at
		c.bad(field, fmt.Sprint("one of ", values), v)
	}
	return v
}

// signature reads the four bytes with which a structure begins.
func (c *cursor) signature(s string) {
	if b := c.take(len(s), "signature"); c.err == nil && string(b) != s {
		c.at -= len(s)
		c.bad("signature", fmt.Sprintf("%q", s), fmt.Sprintf("%q", b))
	}
}

// name reads a string that ends with a zero byte. With pad, it fills a multiple of 8 bytes.
func (c *cursor) name(pad bool, field string) string {
	rest := c.b[c.at:]
	for i, b := range rest {
		if b != 0 {
			continue
		}
		n := i + 1
		if pad {
			n = (n + 7) &^ 7
		}
		c.take(n, field)
		if c.err != nil {
			return ""
		}
		return string(rest[:i])
	}
	c.bad(field, "a zero byte at its end", fmt.Sprintf("%d bytes without", len(rest)))
	return ""
}

// sum reads the checksum of all bytes before it.
func (c *cursor) sum() {
	at := c.at
	v := c.u32("checksum")
	if c.err != nil {
		return
	}
	if c.unsealed {
		return
	}
	if computed := lookup3(c.b[:at]); computed != v {
		c.at = at
		c.bad("checksum", fmt.Sprintf("%08x", computed), fmt.Sprintf("%08x", v))
	}
}

// at returns a cursor over n bytes of the file.
func (f *File) at(what string, addr, n uint64) (*cursor, error) {
	b, err := f.bytes(what, addr, n)
	if err != nil {
		return nil, err
	}
	return &cursor{sizes: f.sizes, b: b, addr: addr, what: what}, nil
}

// upTo is at for at most n bytes: there are fewer at the end of the file.
func (f *File) upTo(what string, addr, n uint64) (*cursor, error) {
	if at, err := f.offset(what, addr, 0); err == nil {
		n = min(n, uint64(f.pages.size-at))
	}
	return f.at(what, addr, n)
}

// offset returns the offset in the file of n bytes at an address.
func (f *File) offset(what string, addr, n uint64) (int64, error) {
	room := uint64(f.pages.size - f.base)
	if addr == undefined || addr > room || n > room-addr {
		expected := fmt.Sprintf("%d bytes in a file of %d", n, room)
		if addr == undefined {
			return 0, &FormatError{Address: addr, Field: what, Expected: expected, Found: "no address"}
		}
		return 0, &FormatError{Address: addr, Field: what, Expected: expected, Found: "an address that leaves too few"}
	}
	return f.base + int64(addr), nil
}

// bytes returns n bytes at an address. They are shared.
func (f *File) bytes(what string, addr, n uint64) ([]byte, error) {
	off, err := f.offset(what, addr, n)
	if err != nil {
		return nil, err
	}
	if n > maxRead {
		return nil, &FormatError{Address: addr, Field: what, Expected: fmt.Sprintf("at most %d bytes", maxRead),
			Found: n}
	}
	return f.pages.read(off, int(n))
}
