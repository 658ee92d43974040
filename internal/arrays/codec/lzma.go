package codec

import (
	"encoding/binary"
	"fmt"

	"github.com/ulikunitz/xz/lzma"

	"github.com/wkwfs/wkwfs/internal/small/scratch"
)

// LZMA is the older format of xz, with a header of 13 bytes and without a checksum: what numcodecs calls lzma with the
// format 2. Decode allocates a dictionary of at most limit bytes, whatever the header asks for, and up to 8 MiB of
// tables.
type LZMA struct{}

// Decode implements [Codec].
func (c LZMA) Decode(dst, src []byte, limit int) ([]byte, error) {
	if len(src) < lzma.HeaderLen {
		return nil, endsEarly(c, src)
	}
	size := int64(binary.LittleEndian.Uint64(src[5:])) // of the decoded bytes; negative if only the end mark says
	if size > int64(limit) {
		return nil, invalid(c, "length", 5, fmt.Sprintf("at most %d decoded bytes", limit), fmt.Sprint(size))
	}
	// The reader allocates the dictionary that the header asks for. No match is farther back than limit bytes.
	buf := scratch.Get(len(src))
	defer scratch.Put(buf)
	own := *buf
	copy(own, src)
	dictionary := min(uint64(binary.LittleEndian.Uint32(src[1:])), uint64(max(limit, lzma.MinDictCap)))
	binary.LittleEndian.PutUint32(own[1:], uint32(dictionary))
	in := new(input)
	in.src.Reset(own)
	r, err := lzma.NewReader(&in.src)
	if err != nil {
		return nil, in.error(c, err)
	}
	return in.readAll(c, r, dst, limit)
}

// Scratch implements [Scratcher]: two dictionaries, one in use and one not yet collected, tables and a copy of src.
func (c LZMA) Scratch(n int) int { return 2*n + c.Bound(n) + 8<<20 }

// Bound implements [Codec].
func (LZMA) Bound(n int) int { return n + n/64 + 1<<16 }

func (LZMA) String() string { return "lzma" }
