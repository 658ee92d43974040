package codec

import (
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/scratch"
)

// Chain is several codecs in the order in which an encoder applied them, as in the member "codecs" of a zarr.json. It
// is a codec itself. Results between its codecs are in pooled memory of at most the bound of the codecs that are still
// to be decoded. The empty chain copies.
type Chain []Codec

// A checksum is a codec whose stored form has the decoded bytes in one piece. A chain does not copy them.
type checksum interface {
	Codec

	// verify returns the decoded bytes, which are a part of src.
	verify(src []byte) ([]byte, error)
}

// Decode decodes the last codec first. At most two results between codecs are in memory at a time.
func (c Chain) Decode(dst, src []byte, limit int) ([]byte, error) {
	if len(c) == 0 {
		if len(src) > limit {
			return nil, tooLong(c, limit)
		}
		dst = room(dst, limit)
		return dst[:copy(dst, src)], nil
	}
	var from, to *[]byte
	defer func() { putBuffers(from, to) }() // also after a panic
	for last := len(c) - 1; last > 0; last-- {
		var err error
		if s, ok := c[last].(checksum); ok {
			if src, err = s.verify(src); err != nil {
				return nil, err
			}
			continue
		}
		most := c[:last].Bound(limit)
		to = scratch.Get(most)
		if src, err = c[last].Decode(*to, src, most); err != nil {
			return nil, err
		}
		putBuffers(from)
		from, to = to, nil
	}
	return c[0].Decode(dst, src, limit)
}

func putBuffers(all ...*[]byte) {
	for _, b := range all {
		if b != nil {
			scratch.Put(b)
		}
	}
}

// Scratch implements [Scratcher]: the most that two results and the codec between them take.
func (c Chain) Scratch(n int) int {
	most, from := 0, 0
	for i := len(c) - 1; i >= 0; i-- {
		if _, ok := c[i].(checksum); ok && i > 0 {
			continue
		}
		decoded, to := c[:i].Bound(n), 0
		if i > 0 {
			to = decoded
		}
		most, from = max(most, from+to+Scratch(c[i], decoded)), to
	}
	return most
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
