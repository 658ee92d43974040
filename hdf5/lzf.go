package hdf5

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// lzf is a stream of liblzf, the filter of h5py.
type lzf struct{}

// longestLiteral is the most bytes that follow a control byte.
const longestLiteral = 32

// shortMatch is the most bytes that are copied as one word.
const shortMatch = 8

var errLZFEnd = errors.New("the stream ends early")

// Decode decodes sequences: a control byte below 32 has one literal more than it says. Others have a length in the
// upper 3 bits (7: a byte has more), and a distance in the lower 5 and another byte.
func (lzf) Decode(dst, src []byte, limit int) ([]byte, error) {
	dst = room(dst, limit)
	at := 0
	for i := 0; i < len(src); {
		control := int(src[i])
		i++
		if control < 32 {
			n := control + 1
			if n > len(src)-i {
				return nil, errLZFEnd
			}
			if n > limit-at {
				return nil, lzfLong(limit)
			}
			if len(src)-i >= longestLiteral && limit-at >= longestLiteral {
				// A copy of a constant length is two moves. What follows the literal is written later.
				copy(dst[at:at+longestLiteral], src[i:i+longestLiteral])
			} else {
				copy(dst[at:at+n], src[i:i+n])
			}
			at += n
			i += n
			continue
		}
		n := control >> 5
		if n == 7 {
			if i >= len(src) {
				return nil, errLZFEnd
			}
			n += int(src[i])
			i++
		}
		n += 2
		if i >= len(src) {
			return nil, errLZFEnd
		}
		back := (control&31)<<8 + int(src[i]) + 1
		i++
		if back > at {
			return nil, fmt.Errorf("expected a distance of at most %d, found %d", at, back)
		}
		if n > limit-at {
			return nil, lzfLong(limit)
		}
		if back >= shortMatch && n <= shortMatch && limit-at >= shortMatch {
			// As above. Most matches of voxels have three bytes.
			v := binary.LittleEndian.Uint64(dst[at-back:])
			binary.LittleEndian.PutUint64(dst[at:], v)
		} else if back >= n {
			copy(dst[at:at+n], dst[at-back:])
		} else {
			for k := range n {
				dst[at+k] = dst[at+k-back]
			}
		}
		at += n
	}
	return dst[:at], nil
}

func lzfLong(limit int) error {
	return fmt.Errorf("expected at most %d decoded bytes, found more", limit)
}

func (lzf) Bound(n int) int { return n + n/32 + 1<<10 }
func (lzf) String() string  { return "LZF" }
