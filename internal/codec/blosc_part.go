package codec

import "sync"

// PartDecoder is a codec that can decode a part of what is stored without the rest.
type PartDecoder interface {
	Codec

	// DecodePart decodes a part of a chunk into dst: len(dst) decoded bytes from byte from on. The chunk has total decoded bytes,
	// and size stored ones. read fills p with stored bytes from byte at on. Its p may be dst. DecodePart reads only what it
	// needs, so it does not find damage elsewhere. Errors are those of [Codec], with offsets in all stored bytes, or those of read as they are.
	// Decoded bytes in dst are undefined if there is an error.
	DecodePart(dst []byte, from, total, size int, read func(p []byte, at int) error) error
}

var _ PartDecoder = Blosc{}

// bloscFirstRead is read at once: the header, and the offsets of as many blocks as most chunks have.
const bloscFirstRead = bloscHeaderBytes + 4*64

// largeBlocks is held while a block takes more memory than its part and a pooled buffer, so that only one such block does at a time.
var largeBlocks sync.Mutex

var bloscHeads = sync.Pool{New: func() any { return new([bloscFirstRead]byte) }}

// DecodePart implements [PartDecoder]. It decodes the blocks that hold the part. A whole chunk is read at once, because two requests to a
// disk take longer than one. Bytes without compression are read into dst.
func (c Blosc) DecodePart(dst []byte, from, total, size int, read func(p []byte, at int) error) error {
	if size == bloscHeaderBytes+total { // it has no compression
		if err := read(dst, bloscHeaderBytes+from); err != nil {
			return err
		}
	} else if len(dst) == total {
		buf := getBuffer(size)
		defer putBuffer(buf)
		src := (*buf)[:size]
		if err := read(src, 0); err != nil {
			return err
		}
		return DecodeInto(c, dst, src)
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
func (c Blosc) decodePart(h bloscHeader, dst []byte, from, size int, head []byte, read func(p []byte, at int) error) error {
	if err := c.checkStarts(h, size); err != nil {
		return err
	}
	if end := h.startsEnd(); end > len(head) {
		buf := getBuffer(end)
		defer putBuffer(buf)
		head = (*buf)[:end]
		if err := read(head, 0); err != nil {
			return err
		}
	}
	if h.blockSize > max(len(dst), maxBuffer) {
		largeBlocks.Lock()
		defer largeBlocks.Unlock()
	}
	d := bloscDecoder{bloscHeader: h, starts: head[bloscHeaderBytes:]}
	lo, hi := d.extent(from/h.blockSize, (from+len(dst)-1)/h.blockSize, size)
	stored := getBuffer(hi - lo)
	defer putBuffer(stored)
	d.src, d.base, d.left = (*stored)[:hi-lo], lo, hi-lo
	if err := read(d.src, lo); err != nil {
		return err
	}
	return d.decodeRange(dst, from)
}

// extent returns the bytes of a chunk that have blocks first to last. A block ends before the next one in the chunk. Blocks need not be in
// order.
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
