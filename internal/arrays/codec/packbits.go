package codec

import "fmt"

// PackBits is booleans of one bit each. What is decoded is a byte of 0 or 1 for each.
type PackBits struct {
	// the first value is in the highest bit of a byte, as numcodecs has it; else in the lowest, as Zarr 3
	HighFirst bool
	Padding   Padding
}

// Padding says where the number of bits is that are after the last value. It is a byte.
type Padding string

// The names are those of the codec packbits of Zarr.
const (
	NoPadding Padding = "none"
	FirstByte Padding = "first_byte"
	LastByte  Padding = "last_byte"
)

// Decode implements [Codec]. Without a number of padding bits, limit says how many values there are.
func (c PackBits) Decode(dst, src []byte, limit int) ([]byte, error) {
	n, at := limit, 0
	switch c.Padding {
	case FirstByte, LastByte:
		if len(src) == 0 {
			return nil, endsEarly(c, src)
		}
		padding := src[len(src)-1]
		if c.Padding == FirstByte {
			padding, at = src[0], 1
		}
		if padding > 7 || int(padding) > 8*(len(src)-1) {
			return nil, invalid(c, "padding", (len(src)-1)*(1-at), "at most 7 bits of the bytes", fmt.Sprint(padding))
		}
		n = 8*(len(src)-1) - int(padding)
		src = src[at : at+len(src)-1]
	}
	if n > limit {
		return nil, tooLong(c, limit)
	}
	if len(src) != (n+7)/8 {
		return nil, invalid(c, "data", -1, fmt.Sprintf("%d bytes for %d values", (n+7)/8, n), fmt.Sprint(len(src)))
	}
	dst = room(dst, limit)[:n]
	for i := range dst {
		shift := i % 8
		if c.HighFirst {
			shift = 7 - shift
		}
		dst[i] = src[i/8] >> shift & 1
	}
	return dst, nil
}

// Bound implements [Codec].
func (c PackBits) Bound(n int) int { return n/8 + 2 }

func (c PackBits) String() string {
	order := "low"
	if c.HighFirst {
		order = "high"
	}
	return fmt.Sprintf("packbits(%s bit first, padding %s)", order, c.Padding)
}
