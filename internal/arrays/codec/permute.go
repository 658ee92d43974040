package codec

import "fmt"

// Permute is a codec that stores an array with its axes in another order. Shape is its extent on each axis, and Order
// its axes as they are stored, slowest first. They are pointers so that codecs can be compared.
type Permute struct {
	Shape, Order *[]int
	Size         int // of a value, in bytes
}

// Decode implements [Codec].
func (c Permute) Decode(dst, src []byte, limit int) ([]byte, error) {
	if len(src) > limit {
		return nil, tooLong(c, limit)
	}
	shape, order := *c.Shape, *c.Order
	strides := make([]int, len(shape)) // of each axis in dst
	n := c.Size
	for axis := len(shape) - 1; axis >= 0; axis-- {
		strides[axis] = n
		n *= shape[axis]
	}
	if len(src) != n {
		return nil, wrongLength(c, n, len(src))
	}
	dst = room(dst, limit)
	at := make([]int, len(shape)) // index on each stored axis
	to := 0
	for from := 0; from < len(src); from += c.Size {
		copy(dst[to:to+c.Size], src[from:])
		for i := len(at) - 1; i >= 0; i-- {
			axis := order[i]
			to += strides[axis]
			if at[i]++; at[i] < shape[axis] {
				break
			}
			to -= strides[axis] * shape[axis]
			at[i] = 0
		}
	}
	return dst[:n], nil
}

// Bound implements [Codec].
func (c Permute) Bound(n int) int { return n }

func (c Permute) String() string { return fmt.Sprintf("transpose(%v of %v)", *c.Order, *c.Shape) }

// Shuffle is the filter of numcodecs that stores first the first byte of all values, then the second one, and so on.
type Shuffle struct{ Size int }

// Decode implements [Codec].
func (c Shuffle) Decode(dst, src []byte, limit int) ([]byte, error) {
	switch {
	case len(src) > limit:
		return nil, tooLong(c, limit)
	case len(src)%c.Size != 0:
		return nil, invalid(c, "data", len(src)-len(src)%c.Size, fmt.Sprintf("values of %d bytes", c.Size),
			fmt.Sprintf("%d bytes", len(src)%c.Size))
	}
	dst = room(dst, limit)[:len(src)]
	n := len(src) / c.Size
	for k := range c.Size {
		for i, b := range src[k*n : (k+1)*n] {
			dst[i*c.Size+k] = b
		}
	}
	return dst, nil
}

// Bound implements [Codec].
func (c Shuffle) Bound(n int) int { return n }

func (c Shuffle) String() string { return fmt.Sprintf("shuffle(%d)", c.Size) }
