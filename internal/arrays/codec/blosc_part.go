package codec

import (
	"fmt"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/scratch"
)

// PartDecoder is a codec that can decode a part of what is stored without the rest.
type PartDecoder interface {
	Codec

	// DecodePart decodes a part of a chunk into dst: len(dst) decoded bytes from byte from on. The chunk has total
	// decoded bytes, and size stored ones. read fills p with stored bytes from byte at on. Its p may be dst. DecodePart
	// reads only what it needs, so it does not find damage elsewhere. Errors are those of [Codec], with offsets in all
	// stored bytes, or those of read as they are. Decoded bytes in dst are undefined if there is an error.
	DecodePart(dst []byte, from, total, size int, read func(p []byte, at int) error) error
}

var _ PartDecoder = Blosc{}

// bloscFirstRead is read at once: the header, and the offsets of as many blocks as most chunks have.
const bloscFirstRead = bloscHeaderBytes + 4*64

const (
	// maxBloscBlock limits the blocks of a chunk that is decoded in parts, in bytes, unless a part is longer. Usual
	// ones have up to 2 MiB.
	maxBloscBlock = 16 << 20
	// smallBloscBlock is the length up to which blocks count as small beside what decoding a part takes.
	smallBloscBlock = 1 << 20
	// maxBloscOffsets limits the offsets of such a chunk, in bytes: those of 1 GiB in blocks of 1 KiB.
	maxBloscOffsets = 4 << 20
)

// largeBlocks is held while a block takes more memory than its part, so that only one such block does at a time.
var largeBlocks sync.Mutex

var bloscHeads = sync.Pool{New: func() any { return new([bloscFirstRead]byte) }}

// DecodePart implements [PartDecoder]. It decodes the blocks that hold the part. A whole chunk is read at once, because
// two requests to a disk take longer than one. Bytes without compression are read into dst.
func (c Blosc) DecodePart(dst []byte, from, total, size int, read func(p []byte, at int) error) error {
	if size == bloscHeaderBytes+total { // it has no compression
		if err := read(dst, bloscHeaderBytes+from); err != nil {
			return err
		}
	} else if len(dst) == total {
		buf := scratch.Get(size)
		defer scratch.Put(buf)
		if err := read(*buf, 0); err != nil {
			return err
		}
		return DecodeInto(c, dst, *buf)
	}
	first := bloscHeads.Get().(*[bloscFirstRead]byte)
	defer bloscHeads.Put(first)
	head := first[:min(bloscFirstRead, size)]
	if err := read(head, 0); err != nil {
		return err
	}
	h, err := c.header(head, size)
	switch {
	case err != nil:
		return err
	case h.length > total:
		return c.tooLong(h, total)
	case h.length < total:
		return wrongLength(c, total, h.length)
	case len(dst) == 0:
		return nil
	case h.flags&bloscStored != 0: // the bytes are in dst if the size is right
		return c.checkStored(h, size)
	}
	return c.decodePart(h, dst, from, size, head, read)
}

// decodePart decodes a part of a compressed chunk. head has its first bytes.
func (c Blosc) decodePart(h bloscHeader, dst []byte, from, size int, head []byte,
	read func(p []byte, at int) error) error {
	if err := c.checkStarts(h, size); err != nil {
		return err
	}
	end := h.startsEnd()
	switch {
	case h.blockSize > max(len(dst), maxBloscBlock):
		return unsupported(c, "bytes of a block", 8,
			fmt.Sprintf("at most %d, so that parts of the chunk can be decoded", max(len(dst), maxBloscBlock)),
			fmt.Sprint(h.blockSize))
	case end > maxBloscOffsets:
		return unsupported(c, "bytes of a block", 8, fmt.Sprintf("blocks whose offsets have at most %d bytes",
			maxBloscOffsets), fmt.Sprintf("%d, so that they have %d", h.blockSize, end))
	case end > len(head):
		buf := scratch.Get(end)
		defer scratch.Put(buf)
		head = *buf
		if err := read(head, 0); err != nil {
			return err
		}
	}
	if h.blockSize > max(len(dst)/2, smallBloscBlock) {
		largeBlocks.Lock()
		defer largeBlocks.Unlock()
	}
	d := bloscDecoder{bloscHeader: h, starts: head[bloscHeaderBytes:]}
	first, last := from/h.blockSize, (from+len(dst)-1)/h.blockSize
	if lo, hi := d.extent(first, last, size); hi-lo <= c.Bound(len(dst)) {
		return d.readRange(dst, from, lo, hi, read)
	}
	// They have other blocks between them, or more than the part.
	for i := first; i <= last; i++ {
		start, end := max(i*h.blockSize, from), min((i+1)*h.blockSize, from+len(dst))
		lo := min(d.start(i), size)
		hi := min(lo+h.blockSize+4*h.valueSize, size) // no stream is longer than what it decodes to
		if err := d.readRange(dst[start-from:end-from], start, lo, hi, read); err != nil {
			return err
		}
	}
	return nil
}

// readRange reads bytes lo to hi of the chunk, which have the blocks of dst, and decodes them. dst starts at byte from
// of the decoded chunk.
func (d *bloscDecoder) readRange(dst []byte, from, lo, hi int, read func(p []byte, at int) error) error {
	stored := scratch.Get(hi - lo)
	defer scratch.Put(stored)
	d.src, d.base, d.left = *stored, lo, hi-lo
	if err := read(d.src, lo); err != nil {
		return err
	}
	return d.decodeRange(dst, from)
}

// extent returns the bytes of a chunk that have blocks first to last. A block ends before the next one in the chunk.
// Blocks need not be in order.
func (d *bloscDecoder) extent(first, last, size int) (lo, hi int) {
	lo, most, hi := size, 0, size
	for i := first; i <= last; i++ {
		at := d.start(i)
		lo, most = min(lo, at), max(most, at)
	}
	for i := range d.blocks() {
		if at := d.start(i); at > most {
			hi = min(hi, at)
		}
	}
	return lo, max(lo, hi)
}
