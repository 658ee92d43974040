package codec

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/crc64"

	"github.com/ulikunitz/xz/lzma"
)

// xzCheck is a checksum of blocks (2.1.1.2).
type xzCheck struct {
	size int
	sum  func([]byte) []byte
}

var ecma = crc64.MakeTable(crc64.ECMA)

// xzChecks has the checksums by the second byte of the stream flags.
var xzChecks = [256]xzCheck{
	0: {0, func([]byte) []byte { return nil }},
	1: {4, func(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)) }},
	4: {8, func(b []byte) []byte { return binary.LittleEndian.AppendUint64(nil, crc64.Checksum(b, ecma)) }},
	10: {sha256.Size, func(b []byte) []byte {
		sum := sha256.Sum256(b)
		return sum[:]
	}},
}

// xzBlock is the header of a block.
type xzBlock struct {
	stored, decoded int64 // bytes; negative if it does not say
	deltas          []int // distances of the delta filters, as the encoder applied them
	dictionary      int64
}

// Filters (5.3).
const (
	xzDelta = 3
	xzLZMA2 = 0x21
)

// blockHeader reads the header of a block (3.1).
func (d *xzDecoder) blockHeader() (xzBlock, error) {
	h := xzBlock{stored: -1, decoded: -1}
	start, size := d.at, 4*(int(d.src[d.at])+1)
	b, err := d.take(size)
	if err != nil {
		return h, err
	}
	d.at -= 4
	if err := d.crc32("block header", b[:size-4]); err != nil {
		return h, err
	}
	flags := b[1]
	if flags&0x3c != 0 {
		return h, unsupported(XZ{}, "block flags", start+1, "bits 2 to 5 to be 0", fmt.Sprintf("%08b", flags))
	}
	in := xzDecoder{src: d.src[:d.at-4], at: start + 2}
	for i, to := range []*int64{&h.stored, &h.decoded} {
		if flags&(0x40<<i) != 0 {
			n, err := in.number()
			if err != nil {
				return h, err
			}
			*to = int64(n)
		}
	}
	for i := range int(flags&3) + 1 {
		if err := h.filter(&in, i == int(flags&3)); err != nil {
			return h, err
		}
	}
	return h, in.zeros(len(in.src) - in.at)
}

// filter reads a filter of the header. The last one is LZMA2.
func (h *xzBlock) filter(in *xzDecoder, last bool) error {
	id, err := in.number()
	if err != nil {
		return err
	}
	size, err := in.number()
	if err != nil {
		return err
	}
	if last != (id == xzLZMA2) || !last && id != xzDelta || size != 1 {
		return unsupported(XZ{}, "filter", in.at-2, "delta filters, and LZMA2 as the last",
			fmt.Sprintf("filter %d", id))
	}
	b, err := in.take(1)
	if err != nil {
		return err
	}
	if !last {
		h.deltas = append(h.deltas, int(b[0])+1)
		return nil
	}
	if h.dictionary, err = lzma.DecodeDictCap(b[0]); err != nil {
		return in.invalid("dictionary", -1, "0 to 40", fmt.Sprint(b[0]))
	}
	return nil
}

// take returns the next n bytes.
func (d *xzDecoder) take(n int) ([]byte, error) {
	if n > len(d.src)-d.at {
		return nil, endsEarly(XZ{}, d.src)
	}
	d.at += n
	return d.src[d.at-n : d.at], nil
}

// number reads a number of 7 bits per byte (1.2).
func (d *xzDecoder) number() (uint64, error) {
	v, n := binary.Uvarint(d.src[d.at:])
	switch {
	case n == 0:
		return 0, endsEarly(XZ{}, d.src)
	case n < 0 || n > 9 || n > 1 && d.src[d.at+n-1] == 0:
		return 0, d.invalid("number", 0, "at most 9 bytes, the last not 0",
			fmt.Sprintf("%x", d.src[d.at:min(d.at+10, len(d.src))]))
	}
	d.at += n
	return v, nil
}

// zeros reads n bytes that must be 0.
func (d *xzDecoder) zeros(n int) error {
	b, err := d.take(n)
	if err != nil {
		return err
	}
	for i, v := range b {
		if v != 0 {
			return d.invalid("padding", i-n, "0", fmt.Sprint(v))
		}
	}
	return nil
}

// crc32 reads the checksum of b.
func (d *xzDecoder) crc32(of string, b []byte) error {
	stored, err := d.take(4)
	if err != nil {
		return err
	}
	if sum := crc32.ChecksumIEEE(b); binary.LittleEndian.Uint32(stored) != sum {
		return d.invalid("checksum of the "+of, -4, fmt.Sprintf("%08x", sum),
			fmt.Sprintf("%08x", binary.LittleEndian.Uint32(stored)))
	}
	return nil
}

// invalid returns the error for a part that starts at an offset from at.
func (d *xzDecoder) invalid(part string, offset int, expected, found string) error {
	return invalid(XZ{}, part, d.at+offset, expected, found)
}
