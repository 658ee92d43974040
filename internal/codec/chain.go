package codec

import (
	"strings"
	"sync"
)

// Chain is several codecs in the order in which an encoder applied them, as in the member "codecs" of a zarr.json. It is
// a codec itself. Results between its codecs are in pooled memory of at most the bound of the codecs that are still to be
// decoded. The empty chain copies.
type Chain []Codec

// A checksum is a codec whose stored form has the decoded bytes in one piece. A chain does not copy them.
type checksum interface {
	Codec

	// verify returns the decoded bytes, which are a part of src.
	verify(src []byte) ([]byte, error)
}

// Decode decodes the last codec first.
func (c Chain) Decode(dst, src []byte, limit int) ([]byte, error) {
	last := len(c) - 1
	if last < 0 {
		if len(src) > limit {
			return nil, tooLong(c, limit)
		}
		dst = room(dst, limit)
		return dst[:copy(dst, src)], nil
	}
	if last == 0 {
		return c[0].Decode(dst, src, limit)
	}
	if s, ok := c[last].(checksum); ok {
		b, err := s.verify(src)
		if err != nil {
			return nil, err
		}
		return c[:last].Decode(dst, b, limit)
	}
	most := c[:last].Bound(limit)
	buf := getBuffer(most)
	defer putBuffer(buf)
	b, err := c[last].Decode(*buf, src, most)
	if err != nil {
		return nil, err
	}
	return c[:last].Decode(dst, b, limit)
}

// Bound returns the bound of all codecs, one after the other.
func (c Chain) Bound(n int) int {
	for _, codec := range c {
		n = codec.Bound(n)
	}
	return n
}

// String returns the names of the codecs in their order.
func (c Chain) String() string {
	if len(c) == 0 {
		return "raw"
	}
	names := make([]string, len(c))
	for i, codec := range c {
		names[i] = codec.String()
	}
	return strings.Join(names, ", ")
}

// buffers keeps memory of at most maxBuffer bytes each for reuse.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxBuffer = 16 << 20

// getBuffer returns memory of n bytes or more.
func getBuffer(n int) *[]byte {
	buf := buffers.Get().(*[]byte)
	if cap(*buf) < n {
		*buf = make([]byte, n)
	}
	return buf
}

func putBuffer(buf *[]byte) {
	if cap(*buf) <= maxBuffer {
		buffers.Put(buf)
	}
}
