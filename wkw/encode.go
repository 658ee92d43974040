package wkw

import (
	"fmt"
	"slices"

	"github.com/pierrec/lz4/v4"

	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

// Encoder encodes the blocks of a cube, as a cube file stores them. It uses its memory again for the next block, so it
// is for one goroutine at a time.
type Encoder struct {
	size     int                                  // bytes of a decoded block
	err      error                                // the header has no blocks
	compress func(dst, block []byte) (int, error) // dst has Bound bytes; nil: blocks are stored raw
}

// NewEncoder returns an encoder for the blocks of cubes with the header h. It uses the block type and the size of the
// blocks. If no cube can have the header, each call of Encode returns an error.
func NewEncoder(h Header) *Encoder {
	if err := h.checkWritable(); err != nil {
		return &Encoder{err: err}
	}
	e := &Encoder{size: h.Grid().BlockBytes()}
	switch h.BlockType {
	case LZ4:
		e.compress = new(lz4block.Encoder).Encode
	case LZ4HC:
		hard := &lz4.CompressorHC{Level: lz4.Level9}
		e.compress = func(dst, block []byte) (int, error) { return hard.CompressBlock(block, dst) }
	}
	return e
}

// Bound returns the size of the largest stored block, in bytes: that of a block that cannot be compressed.
func (e *Encoder) Bound() int {
	if e.compress == nil {
		return e.size
	}
	return lz4block.Bound(e.size)
}

// Encode appends the stored form of a decoded block to dst, and returns the longer slice. If dst has room for Bound
// more bytes, it allocates nothing. The slices must not overlap. Encode fails if the block has the wrong length.
func (e *Encoder) Encode(dst, block []byte) ([]byte, error) {
	switch {
	case e.err != nil:
		return dst, e.err
	case len(block) != e.size:
		return dst, fmt.Errorf("expected %d bytes, found %d", e.size, len(block))
	case e.compress == nil:
		return append(dst, block...), nil
	}
	dst = slices.Grow(dst, e.Bound())
	n, err := e.compress(dst[len(dst):len(dst)+e.Bound()], block)
	return dst[:len(dst)+n], err
}

// checkWritable returns an error if no cube can have the header, or if its blocks are too large.
func (h Header) checkWritable() error {
	if _, err := h.MarshalBinary(); err != nil {
		return err
	}
	if n := h.Grid().BlockBytes(); n > MaxBlockBytes {
		return fmt.Errorf("blocks of %d bytes: expected at most %d", n, MaxBlockBytes)
	}
	return nil
}
