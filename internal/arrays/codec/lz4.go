package codec

import (
	"encoding/binary"
	"fmt"

	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

// LZ4 is the codec lz4 of numcodecs: the number of decoded bytes as a little-endian word of 32 bits, and an LZ4 block.
type LZ4 struct{}

// Decode implements [Codec].
func (c LZ4) Decode(dst, src []byte, limit int) ([]byte, error) {
	if len(src) < 4 {
		return nil, endsEarly(c, src)
	}
	n := int64(binary.LittleEndian.Uint32(src))
	if n > int64(limit) {
		return nil, invalid(c, "length", 0, fmt.Sprintf("at most %d decoded bytes", limit), fmt.Sprint(n))
	}
	dst = room(dst, int(n))
	if err := lz4block.Decode(dst, src[4:]); err != nil {
		return nil, failed(c, lz4Fault(err, len(dst)))
	}
	return dst, nil
}

// Bound implements [Codec]. It is LZ4_compressBound and the word before it.
func (LZ4) Bound(n int) int { return n + n/255 + 16 + 4 }

func (LZ4) String() string { return "lz4" }

// lz4Fault returns err, which is of lz4block, with what it leaves to its caller: n, the number of bytes that were
// expected.
func lz4Fault(err error, n int) error {
	return fmt.Errorf("lz4 block: expected %d decoded bytes, found %w", n, err)
}
