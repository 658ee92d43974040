package codec

import (
	"encoding/binary"
	"fmt"

	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

// LZ4Java is the stream of LZ4BlockOutputStream in lz4-java, which N5 calls lz4. It is blocks, and one of length 0 as
// the end. Numbers are little-endian. A block has a header of 21 bytes:
//
//	byte 0   "LZ4Block"
//	     8   method in the upper bits: 0x10 stored, 0x20 LZ4; in the lower ones n,
//	         for blocks of at most 2^(10 + n) bytes
//	     9   stored bytes
//	    13   decoded bytes
//	    17   checksum of the decoded bytes: the lower 28 bits of xxHash
type LZ4Java struct{}

const (
	lz4JavaMagic  = "LZ4Block"
	lz4JavaHeader = 21
	lz4JavaStored = 0x10
	lz4JavaLZ4    = 0x20
	lz4JavaSeed   = 0x9747b28c
	lz4JavaMask   = 1<<28 - 1 // of the checksum
	lz4JavaLog2   = 10        // of the smallest block
)

// Decode implements [Codec].
func (c LZ4Java) Decode(dst, src []byte, limit int) ([]byte, error) {
	dst = room(dst, limit)
	n := 0
	for at := 0; ; {
		b, err := c.block(src, at)
		switch {
		case err != nil:
			return nil, err
		case b.decoded == 0 && b.end < len(src):
			return nil, leftOver(c, len(src), b.end)
		case b.decoded == 0:
			return dst[:n], nil
		case b.decoded > limit-n:
			return nil, tooLong(c, limit)
		}
		if err := c.decodeBlock(dst[n:n+b.decoded], src, at, b); err != nil {
			return nil, err
		}
		n, at = n+b.decoded, b.end
	}
}

// Bound implements [Codec]. Blocks may be as small as 1 KiB.
func (LZ4Java) Bound(n int) int { return n + n/32 + 1<<10 }

func (LZ4Java) String() string { return "lz4" }

// lz4JavaBlock is the header of a block.
type lz4JavaBlock struct {
	method  byte
	decoded int
	sum     uint32
	end     int // offset of the next block
}

// block returns the header at an offset. The stored bytes of the block are in src.
func (c LZ4Java) block(src []byte, at int) (lz4JavaBlock, error) {
	if len(src)-at < lz4JavaHeader {
		return lz4JavaBlock{}, endsEarly(c, src)
	}
	h := src[at : at+lz4JavaHeader]
	word := func(at int) int64 { return int64(binary.LittleEndian.Uint32(h[at:])) }
	stored, decoded, most := word(9), word(13), int64(1)<<(lz4JavaLog2+h[8]&0x0f)
	b := lz4JavaBlock{method: h[8] & 0xf0, decoded: int(decoded), sum: uint32(word(17)),
		end: at + lz4JavaHeader + int(stored)}
	switch {
	case string(h[:8]) != lz4JavaMagic:
		return b, invalid(c, "magic number", at, lz4JavaMagic, fmt.Sprintf("%q", h[:8]))
	case b.method != lz4JavaStored && b.method != lz4JavaLZ4:
		return b, invalid(c, "method", at+8, "0x10 or 0x20", fmt.Sprintf("%#x", b.method))
	case decoded > most:
		return b, invalid(c, "decoded length of a block", at+13, fmt.Sprintf("at most %d", most), fmt.Sprint(decoded))
	case (b.method == lz4JavaStored || decoded == 0) && stored != decoded:
		return b, invalid(c, "stored length of a block", at+9, fmt.Sprint(decoded), fmt.Sprint(stored))
	case decoded == 0 && b.sum != 0:
		return b, invalid(c, "checksum", at+17, "0", fmt.Sprintf("%08x", b.sum))
	case stored > int64(len(src)-at-lz4JavaHeader):
		return b, endsEarly(c, src)
	}
	return b, nil
}

// decodeBlock decodes block b, whose header is at an offset of src, and verifies its checksum.
func (c LZ4Java) decodeBlock(dst, src []byte, at int, b lz4JavaBlock) error {
	data := src[at+lz4JavaHeader : b.end]
	if b.method == lz4JavaStored {
		copy(dst, data)
	} else if err := lz4block.Decode(dst, data); err != nil {
		return invalidBlock(c, at+lz4JavaHeader, lz4Fault(err, len(dst)))
	}
	if sum := xxh32(dst, lz4JavaSeed) & lz4JavaMask; sum != b.sum {
		return invalid(c, "checksum", at+17, fmt.Sprintf("%08x, that of the %d bytes", sum, len(dst)),
			fmt.Sprintf("%08x", b.sum))
	}
	return nil
}
