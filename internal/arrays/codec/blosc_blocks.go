package codec

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/snappy"

	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

// bloscDecoder decodes the blocks of a chunk.
type bloscDecoder struct {
	bloscHeader
	starts  []byte      // the offsets of all blocks; it may be longer
	src     []byte      // the chunk, or a part of it
	base    int         // offset of src in the chunk
	left    int         // bytes that streams may still have: no two of them overlap
	pending bloscStream // waits for a second one, because lz4block is faster with two; none if dst is nil
}

// bloscStream is a compressed part of a block.
type bloscStream struct {
	dst, src []byte
	block    int // its index
	offset   int // of src in the chunk
}

// decodeRange decodes the blocks that have bytes of dst, which starts at byte from of the decoded chunk. It decodes one
// at a time if a block has streams enough for lz4block, so that it stays in the cache of a core until its bytes are in
// order, else two.
func (d *bloscDecoder) decodeRange(dst []byte, from int) error {
	together := 2
	if d.parts(min(d.blockSize, d.length)) > 1 {
		together = 1
	}
	var shuffled []byte
	if d.flags&(bloscBytes|bloscBits) != 0 {
		size := min(together*d.blockSize, max(d.blockSize, len(dst)), d.length)
		buf := scratch.Get(size)
		defer scratch.Put(buf)
		shuffled = *buf
	}
	for at, end := from, from+len(dst); at < end; {
		i := at / d.blockSize
		first, last := i*d.blockSize, min((i+together)*d.blockSize, d.length)
		if last > end {
			last = min(first+d.blockSize, d.length)
		}
		if first < at || last > end {
			n, err := d.decodeCut(dst[at-from:], shuffled, at)
			if err != nil {
				return err
			}
			at += n
			continue
		}
		if err := d.decode(dst[first-from:last-from], shuffled, i); err != nil {
			return err
		}
		at = last
	}
	return nil
}

// decodeCut decodes the block that has byte at of the decoded chunk. It copies the bytes from there on to dst, as far
// as they go, and returns how many.
func (d *bloscDecoder) decodeCut(dst, shuffled []byte, at int) (int, error) {
	i := at / d.blockSize
	first := i * d.blockSize
	size := min(d.blockSize, d.length-first)
	buf := scratch.Get(size)
	defer scratch.Put(buf)
	block := *buf
	if err := d.decode(block, shuffled, i); err != nil {
		return 0, err
	}
	return copy(dst, block[at-first:]), nil
}

// decode decodes block i and the next one, if dst has room for it. If blocks are shuffled, shuffled has as many bytes
// as dst.
func (d *bloscDecoder) decode(dst, shuffled []byte, i int) error {
	into := dst // where streams are decoded
	if d.shufflesBytes() || d.shufflesBits() && d.valueSize == 1 {
		into = shuffled
	}
	first := min(d.blockSize, len(dst))
	if err := d.block(into[:first], i); err != nil {
		return err
	}
	if first < len(dst) {
		if err := d.block(into[first:len(dst)], i+1); err != nil {
			return err
		}
	}
	if err := d.flush(); err != nil {
		return err
	}
	if shuffled != nil {
		d.unshuffle(dst[:first], shuffled[:first])
		d.unshuffle(dst[first:], shuffled[first:len(dst)])
	}
	return nil
}

// start returns the offset of block i in the chunk.
func (d *bloscDecoder) start(i int) int { return int(binary.LittleEndian.Uint32(d.starts[4*i:])) }

// parts returns in how many streams a block of n bytes is.
func (d *bloscDecoder) parts(n int) int {
	if d.flags&bloscUnsplit != 0 || n < d.blockSize || d.valueSize > bloscMaxSplit || n/d.valueSize < bloscMinPart {
		return 1
	}
	return d.valueSize
}

// block decodes the streams of block i into dst. One of them may be left pending.
func (d *bloscDecoder) block(dst []byte, i int) error {
	parts := d.parts(len(dst))
	if len(dst)%parts != 0 {
		return invalid(Blosc{}, "bytes of a block", 8, fmt.Sprintf("a multiple of %d", parts), fmt.Sprint(len(dst)))
	}
	at := d.start(i) - d.base
	for n := len(dst) / parts; len(dst) > 0; dst = dst[n:] {
		if at > len(d.src)-4 {
			return bloscFault(i, d.base+at, "a stream before byte %d", d.base+len(d.src))
		}
		size := int(binary.LittleEndian.Uint32(d.src[at:]))
		at += 4
		if size > len(d.src)-at {
			return bloscFault(i, d.base+at, "a stream of %d bytes, of which %d are stored", size, len(d.src)-at)
		}
		if d.left -= 4 + size; d.left < 0 { // without this, the work is not in proportion to the chunk
			return bloscFault(i, d.base+at, "a stream of %d bytes that overlaps others", size)
		}
		if err := d.stream(bloscStream{dst: dst[:n], src: d.src[at : at+size], block: i,
			offset: d.base + at}); err != nil {
			return err
		}
		at += size
	}
	return nil
}

// stream decodes s, or leaves it pending.
func (d *bloscDecoder) stream(s bloscStream) error {
	if len(s.src) == len(s.dst) {
		copy(s.dst, s.src)
		return nil
	}
	switch d.flags >> bloscShift {
	case bloscLZ:
		return s.failed(blosclz(s.dst, s.src))
	case bloscLZ4:
		return d.pairLZ4(s)
	case bloscSnappy:
		return s.failed(snappyBlock(s.dst, s.src))
	case bloscZlib:
		return s.failed(DecodeInto(Zlib{}, s.dst, s.src))
	default: // the header was checked
		return s.failed(DecodeInto(Zstd{}, s.dst, s.src))
	}
}

// pairLZ4 decodes s with the pending stream, or makes it the pending one.
func (d *bloscDecoder) pairLZ4(s bloscStream) error {
	p := d.pending
	if p.dst == nil {
		d.pending = s
		return nil
	}
	d.pending = bloscStream{}
	err0, err1 := lz4block.DecodePair(p.dst, p.src, s.dst, s.src)
	if err0 != nil {
		return p.failedLZ4(err0)
	}
	return s.failedLZ4(err1)
}

// flush decodes the pending stream, if there is one.
func (d *bloscDecoder) flush() error {
	s := d.pending
	if s.dst == nil {
		return nil
	}
	d.pending = bloscStream{}
	return s.failedLZ4(lz4block.Decode(s.dst, s.src))
}

// snappyBlock decodes a block of snappy. dst has its decoded length.
func snappyBlock(dst, src []byte) error {
	n, err := snappy.DecodedLen(src)
	if err == nil && n != len(dst) {
		err = fmt.Errorf("expected %d decoded bytes, found %d", len(dst), n)
	}
	if err == nil {
		_, err = snappy.DecodeStrict(dst, src)
	}
	if err != nil {
		return fmt.Errorf("snappy data: %w", err)
	}
	return nil
}

// failed returns the error for that of the decoder of s.
func (s bloscStream) failed(err error) error {
	if err == nil {
		return nil
	}
	return &volume.FormatError{Part: fmt.Sprintf("blosc block %d", s.block), Offset: int64(s.offset), Err: err}
}

func (s bloscStream) failedLZ4(err error) error {
	if err == nil {
		return nil
	}
	return s.failed(lz4Fault(err, len(s.dst)))
}

// bloscFault returns the error for block i.
func bloscFault(i, offset int, format string, args ...any) error {
	return &volume.FormatError{Part: fmt.Sprintf("blosc block %d", i), Offset: int64(offset),
		Err: fmt.Errorf(format, args...)}
}
