package hdf5

import (
	"encoding/binary"
	"fmt"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

// blocks is what LZ4 and bitshuffle have in common: the decoded bytes, and blocks with a length each. Numbers are
// big-endian.
type blocks struct {
	src []byte
	at  int
}

// next returns the next block of at most limit bytes.
func (b *blocks) next(limit int) ([]byte, error) {
	n, err := b.number(4)
	if err != nil {
		return nil, err
	}
	if left := len(b.src) - b.at; n > uint64(left) {
		return nil, fmt.Errorf("block at %d: expected at most %d bytes, found %d", b.at, left, n)
	}
	b.at += int(n)
	return b.src[b.at-int(n) : b.at], nil
}

// number returns a number of n bytes.
func (b *blocks) number(n int) (uint64, error) {
	if len(b.src)-b.at < n {
		return 0, fmt.Errorf("expected %d bytes at %d, found %d", n, b.at, len(b.src)-b.at)
	}
	b.at += n
	if n == 4 {
		return uint64(binary.BigEndian.Uint32(b.src[b.at-4:])), nil
	}
	return binary.BigEndian.Uint64(b.src[b.at-8:]), nil
}

// head reads the decoded bytes and those of a block.
func (b *blocks) head(limit int) (total, block int, err error) {
	t, err := b.number(8)
	if err != nil {
		return 0, 0, err
	}
	n, err := b.number(4)
	switch {
	case err != nil:
		return 0, 0, err
	case t > uint64(limit):
		return 0, 0, fmt.Errorf("expected at most %d decoded bytes, found %d", limit, t)
	case n == 0 && t > 0, n > 1<<31-1:
		return 0, 0, fmt.Errorf("expected blocks of 1 byte to 2^31, found %d", n)
	}
	return int(t), int(n), nil
}

// end checks that nothing is after the last block.
func (b *blocks) end() error {
	if b.at != len(b.src) {
		return fmt.Errorf("expected the end at %d, found %d bytes", b.at, len(b.src)-b.at)
	}
	return nil
}

// lz4 is the filter LZ4: a block that did not shrink is stored as it is.
type lz4 struct{}

func (lz4) Decode(dst, src []byte, limit int) ([]byte, error) {
	b := blocks{src: src}
	total, size, err := b.head(limit)
	if err != nil {
		return nil, err
	}
	dst = room(dst, limit)[:total]
	for at := 0; at < total; at += size {
		part := dst[at:min(at+size, total)]
		stored, err := b.next(len(part))
		if err != nil {
			return nil, err
		}
		if len(stored) == len(part) {
			copy(part, stored)
		} else if err := lz4block.Decode(part, stored); err != nil {
			return nil, fmt.Errorf("block of bytes %d to %d: %w", at, at+len(part), err)
		}
	}
	return dst, b.end()
}

func (lz4) Bound(n int) int { return n + n/64 + 1<<16 }
func (lz4) String() string  { return "LZ4" }

// The compressions of bitshuffle.
const (
	bitsOnly = 0
	bitsLZ4  = 2
	bitsZstd = 3
)

// bitshuffle has the bits of values in planes, in blocks.
type bitshuffle struct {
	size        int // of a value
	block       int // values; 0: those that writers take
	compression uint32
}

// newBitshuffle reads the parameters: major and minor version, size, block, compression.
func newBitshuffle(p []uint32) (decoder, error) {
	b := bitshuffle{}
	if len(p) < 3 || p[2] < 1 || p[2] > 1<<20 {
		return nil, fmt.Errorf("filter bitshuffle: expected values of 1 to 2^20 bytes, found the parameters %v", p)
	}
	b.size = int(p[2])
	if len(p) > 3 {
		b.block = int(p[3])
	}
	if len(p) > 4 {
		b.compression = p[4]
	}
	if b.block%8 != 0 || b.block > 1<<28 {
		return nil, fmt.Errorf("filter bitshuffle: expected blocks of a multiple of 8 values, found %d", b.block)
	}
	if b.compression != bitsOnly && b.compression != bitsLZ4 && b.compression != bitsZstd {
		return nil, notSupported("the compression %d of the filter bitshuffle", b.compression)
	}
	return b, nil
}

func (b bitshuffle) Decode(dst, src []byte, limit int) ([]byte, error) {
	r := blocks{src: src}
	total, block := len(src), b.block
	if b.compression != bitsOnly {
		var bytes int
		var err error
		if total, bytes, err = r.head(limit); err != nil {
			return nil, err
		}
		block = bytes / b.size
	}
	if block == 0 {
		block = max(8192/b.size&^7, 128)
	}
	if total > limit || total%b.size != 0 || block%8 != 0 {
		return nil,
			fmt.Errorf(
				"expected at most %d bytes, in values of %d and blocks of a multiple of 8 values, found %d and %d",
				limit, b.size, total, block)
	}
	dst = room(dst, limit)[:total]
	values := total / b.size
	held := scratch.Get(min(block, values) * b.size)
	defer scratch.Put(held)
	for done := 0; done < values&^7; {
		n := min(block, (values-done)&^7)
		if err := b.part(&r, dst[done*b.size:(done+n)*b.size], (*held)[:n*b.size]); err != nil {
			return nil, err
		}
		done += n
	}
	rest := dst[values&^7*b.size:] // fewer than 8 values are not shuffled
	if len(r.src)-r.at < len(rest) {
		return nil, fmt.Errorf("expected %d bytes at %d, found %d", len(rest), r.at, len(r.src)-r.at)
	}
	r.at += copy(rest, r.src[r.at:])
	return dst, r.end()
}

// part decodes a block into dst. held is as long.
func (b bitshuffle) part(r *blocks, dst, held []byte) error {
	switch b.compression {
	case bitsOnly:
		if len(r.src)-r.at < len(dst) {
			return fmt.Errorf("expected %d bytes at %d, found %d", len(dst), r.at, len(r.src)-r.at)
		}
		r.at += copy(held, r.src[r.at:])
	default:
		stored, err := r.next(len(dst))
		if err != nil {
			return err
		}
		if b.compression == bitsLZ4 {
			err = lz4block.Decode(held, stored)
		} else {
			err = codec.DecodeInto(codec.Zstd{}, held, stored)
		}
		if err != nil {
			return fmt.Errorf("block that ends at %d: %w", r.at, err)
		}
	}
	codec.UnshuffleBits(dst, held, b.size)
	return nil
}

func (bitshuffle) Bound(n int) int { return n + n/32 + 1<<16 }
func (bitshuffle) String() string  { return "bitshuffle" }
