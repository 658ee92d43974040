package codec

import (
	"encoding/binary"
	"fmt"
)

// Blosc is a chunk of c-blosc 1. Its header names the compression and the order of bytes, so it needs no parameters.
// There is no checksum.
//
// The specification is README_CHUNK_FORMAT.rst of c-blosc, and blosc.c where that is silent. Numbers are little-endian.
// After a header of 16 bytes is one word of 32 bits for each block: its offset in the chunk. A block is one or more
// streams: each a word of 32 bits with its length, and a compressed part of the block. If a stream is as long as its
// part of the block, the part is stored without compression.
type Blosc struct{}

const (
	bloscHeaderBytes = 16
	bloscVersion     = 2 // of the format
	bloscStreams     = 1 // version of each of the compressions

	bloscBytes   = 1 << 0 // flag: the bytes of values are shuffled
	bloscStored  = 1 << 1 // flag: the decoded bytes follow the header, without blocks
	bloscBits    = 1 << 2 // flag: the bits of values are shuffled
	bloscFuture  = 1 << 3 // flag: must be 0
	bloscUnsplit = 1 << 4 // flag: a block is one stream
	bloscShift   = 5      // of the flags, for the compression

	// A chunk whose writer did not know the flag bloscUnsplit splits a block only within these limits.
	bloscMaxSplit = 16  // bytes of a value
	bloscMinPart  = 128 // bytes of a part
)

// The compressions of blosc.
const (
	bloscLZ = iota
	bloscLZ4
	bloscSnappy
	bloscZlib
	bloscZstd
	bloscCompressions
)

// bloscHeader is the header of a chunk:
//
//	byte 0   version of the format
//	     1   version of the compression
//	     2   flags; the compression in bits 5 to 7
//	     3   bytes of a value
//	     4   decoded bytes
//	     8   decoded bytes of a block; the last one may have fewer
//	    12   bytes of the chunk
type bloscHeader struct {
	flags     byte
	valueSize int
	length    int
	blockSize int
}

// Decode implements [Codec].
func (c Blosc) Decode(dst, src []byte, limit int) ([]byte, error) {
	h, err := c.header(src, len(src))
	if err != nil {
		return nil, err
	}
	if h.length > limit {
		return nil, c.tooLong(h, limit)
	}
	dst = room(dst, h.length)
	if h.length == 0 {
		return dst, nil
	}
	if h.flags&bloscStored != 0 {
		if err := c.checkStored(h, len(src)); err != nil {
			return nil, err
		}
		copy(dst, src[bloscHeaderBytes:])
		return dst, nil
	}
	if err := c.checkStarts(h, len(src)); err != nil {
		return nil, err
	}
	d := bloscDecoder{bloscHeader: h, starts: src[bloscHeaderBytes:], src: src, left: len(src) - h.startsEnd()}
	if err := d.decodeRange(dst, 0); err != nil {
		return nil, err
	}
	return dst, nil
}

// Bound implements [Codec].
func (Blosc) Bound(n int) int { return n + n/64 + 1<<16 }

// Scratch implements [Scratcher]. Two blocks are decoded at a time if they are small, so usual chunks take 2 MiB.
func (Blosc) Scratch(n int) int { return n }

func (Blosc) String() string { return "blosc" }

// header returns the header of a chunk of size bytes. src has its first bytes.
func (c Blosc) header(src []byte, size int) (bloscHeader, error) {
	if len(src) < bloscHeaderBytes {
		return bloscHeader{}, endsEarly(c, src)
	}
	word := func(at int) int { return int(int32(binary.LittleEndian.Uint32(src[at:]))) }
	h := bloscHeader{flags: src[2], valueSize: int(src[3]), length: word(4), blockSize: word(8)}
	compression := int(h.flags >> bloscShift)
	switch stored := h.flags&bloscStored != 0; {
	case src[0] != bloscVersion:
		return h, unsupported(c, "version", 0, fmt.Sprint(bloscVersion), fmt.Sprint(src[0]))
	case h.flags&bloscFuture != 0:
		return h, unsupported(c, "flags", 2, "bit 3 to be 0", fmt.Sprintf("%08b", h.flags))
	case !stored && compression >= bloscCompressions:
		return h, unsupported(c, "compression", 2, fmt.Sprintf("less than %d", bloscCompressions),
			fmt.Sprint(compression))
	case !stored && src[1] != bloscStreams:
		return h, unsupported(c, "version of the compression", 1, fmt.Sprint(bloscStreams), fmt.Sprint(src[1]))
	case word(12) != size:
		return h, invalid(c, "size", 12, fmt.Sprintf("that of the chunk, %d bytes", size), fmt.Sprint(word(12)))
	case h.length < 0:
		return h, invalid(c, "length", 4, "0 or more", fmt.Sprint(h.length))
	case h.length > 0 && h.valueSize == 0:
		return h, invalid(c, "bytes of a value", 3, "1 or more", "0")
	case h.length > 0 && h.blockSize < 1:
		return h, invalid(c, "bytes of a block", 8, "1 or more", fmt.Sprint(h.blockSize))
	}
	return h, nil
}

func (c Blosc) tooLong(h bloscHeader, limit int) error {
	return invalid(c, "length", 4, fmt.Sprintf("at most %d bytes", limit), fmt.Sprint(h.length))
}

// checkStored checks the size of a chunk without compression.
func (c Blosc) checkStored(h bloscHeader, size int) error {
	if found := size - bloscHeaderBytes; found != h.length {
		return invalid(c, "stored bytes", bloscHeaderBytes, fmt.Sprint(h.length), fmt.Sprint(found))
	}
	return nil
}

// checkStarts checks that a chunk has room for the offsets of its blocks.
func (c Blosc) checkStarts(h bloscHeader, size int) error {
	if size < h.startsEnd() {
		return invalid(c, "offsets of blocks", bloscHeaderBytes, fmt.Sprintf("%d words", h.blocks()),
			fmt.Sprintf("%d bytes", size-bloscHeaderBytes))
	}
	return nil
}

// blocks returns the number of blocks. The chunk is not empty.
func (h *bloscHeader) blocks() int { return (h.length-1)/h.blockSize + 1 }

// startsEnd returns the offset of the first byte after the offsets of the blocks.
func (h *bloscHeader) startsEnd() int { return bloscHeaderBytes + 4*h.blocks() }
