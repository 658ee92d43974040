package hdf5

import (
	"fmt"
	"math"
	"math/bits"
)

// maxRank is the greatest number of dimensions.
const maxRank = 32

// space is a dataspace (IV.A.2.b).
type space struct {
	null     bool // no value at all
	dims     []uint64
	max      []uint64
	elements uint64
}

func (f *File) readSpace(m message) (space, error) {
	m, err := f.resolve(m)
	if err != nil {
		return space{}, err
	}
	c := f.body(m, "dataspace")
	return readSpace(c), c.err
}

func readSpace(c *cursor) space {
	s := space{elements: 1}
	version := c.expect("version", 1, 2)
	rank := int(c.u8("rank"))
	flags := c.u8("flags")
	if version == 1 {
		c.skip(5)
	} else {
		s.null = c.expect("kind", 0, 1, 2) == 2
	}
	if rank > maxRank {
		c.bad("rank", fmt.Sprintf("at most %d", maxRank), rank)
	}
	if c.err != nil {
		return s
	}
	for range rank {
		s.dims = append(s.dims, c.length("dimension"))
	}
	s.max = s.dims
	if flags&1 != 0 {
		s.max = nil
		for range rank {
			s.max = append(s.max, c.length("maximum dimension"))
		}
	}
	s.count(c)
	return s
}

// count multiplies the dimensions.
func (s *space) count(c *cursor) {
	for i, n := range s.dims {
		if c.err == nil && (n == Unlimited || n > s.max[i]) {
			c.bad("dimension", fmt.Sprintf("at most the maximum, %d", s.max[i]), n)
		}
		var ok bool
		if s.elements, ok = product(s.elements, n); !ok {
			c.bad("dimensions", "fewer than 2^63 elements", s.dims)
		}
	}
	if s.null {
		s.elements = 0
	}
}

// product returns a · b, and whether it is below 2^63.
func product(a, b uint64) (uint64, bool) {
	high, low := bits.Mul64(a, b)
	return low, high == 0 && low <= math.MaxInt64
}
