package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// XZ is streams of the format xz, one or more: what numcodecs calls lzma with the format 1, and N5 calls xz. All
// checksums are verified. Of the filters, LZMA2 and delta are supported. For each block, Decode allocates a dictionary
// of at most the decoded length of the block, whatever it asks for, and 64 KiB of tables.
//
// The specification is "The .xz File Format", version 1.2.1. The sections below are of it.
type XZ struct{}

// Decode implements [Codec].
func (c XZ) Decode(dst, src []byte, limit int) ([]byte, error) {
	d := xzDecoder{src: src, dst: room(dst, limit)}
	for first := true; first || d.at < len(src); first = false {
		if err := d.stream(); err != nil {
			return nil, err
		}
		if err := d.padding(); err != nil {
			return nil, err
		}
	}
	return d.dst[:d.n], nil
}

// Scratch implements [Scratcher]: two dictionaries, one in use and one not yet collected.
func (XZ) Scratch(n int) int { return 2 * n }

// Bound implements [Codec].
func (XZ) Bound(n int) int { return n + n/64 + 1<<16 }

func (XZ) String() string { return "xz" }

// xzDecoder decodes streams. The bytes of src before at are decoded into the first n of dst.
type xzDecoder struct {
	src []byte
	at  int
	dst []byte
	n   int

	check   xzCheck
	records []xzRecord // of the blocks of this stream
}

// xzRecord is what the index has for a block (4.3).
type xzRecord struct{ stored, decoded uint64 }

const xzHeaderBytes = 12

// stream decodes a stream (2.1): a header, blocks, an index and a footer.
func (d *xzDecoder) stream() error {
	header, err := d.take(xzHeaderBytes)
	if err != nil {
		return err
	}
	flags := header[6:8]
	switch {
	case string(header[:6]) != "\xfd7zXZ\x00":
		return d.invalid("magic number", -xzHeaderBytes, "fd377a585a00", fmt.Sprintf("%x", header[:6]))
	case crc32.ChecksumIEEE(flags) != binary.LittleEndian.Uint32(header[8:]):
		return d.invalid("checksum of the stream header", -4, fmt.Sprintf("%08x", crc32.ChecksumIEEE(flags)),
			fmt.Sprintf("%08x", binary.LittleEndian.Uint32(header[8:])))
	case flags[0] != 0 || xzChecks[flags[1]].sum == nil:
		return unsupported(XZ{}, "stream flags", d.at-6, "0000, 0001, 0004 or 000a", fmt.Sprintf("%x", flags))
	}
	d.check, d.records = xzChecks[flags[1]], d.records[:0]
	for {
		first, err := d.take(1)
		if err != nil {
			return err
		}
		d.at--
		if first[0] == 0 {
			return d.end(flags)
		}
		if err := d.block(); err != nil {
			return err
		}
	}
}

// padding skips zeros between streams (2.2).
func (d *xzDecoder) padding() error {
	start := d.at
	for d.at < len(d.src) && d.src[d.at] == 0 {
		d.at++
	}
	if (d.at-start)%4 != 0 {
		return d.invalid("stream padding", start-d.at, "a multiple of 4 bytes", fmt.Sprint(d.at-start))
	}
	return nil
}

// block decodes a block (3).
func (d *xzDecoder) block() error {
	start := d.at
	h, err := d.blockHeader()
	if err != nil {
		return err
	}
	from, data := d.n, d.at
	if err := d.lzma2(h.dictionary); err != nil {
		return err
	}
	out, stored := d.dst[from:d.n], d.at-data
	switch {
	case h.stored >= 0 && h.stored != int64(stored):
		return d.invalid("stored size of a block", 0, fmt.Sprint(h.stored), fmt.Sprint(stored))
	case h.decoded >= 0 && h.decoded != int64(len(out)):
		return d.invalid("decoded size of a block", 0, fmt.Sprint(h.decoded), fmt.Sprint(len(out)))
	}
	for i := len(h.deltas) - 1; i >= 0; i-- {
		for distance, j := h.deltas[i], h.deltas[i]; j < len(out); j++ {
			out[j] += out[j-distance]
		}
	}
	unpadded := d.at - start
	if err := d.zeros(-stored & 3); err != nil {
		return err
	}
	sum, err := d.take(d.check.size)
	if err != nil {
		return err
	}
	if computed := d.check.sum(out); !bytes.Equal(sum, computed) {
		return d.invalid("checksum of a block", -len(sum), fmt.Sprintf("%x", computed), fmt.Sprintf("%x", sum))
	}
	d.records = append(d.records, xzRecord{uint64(unpadded + len(sum)), uint64(len(out))})
	return nil
}

// lzma2 decodes the data of a block (5.3.1).
func (d *xzDecoder) lzma2(dictionary int64) error {
	decoded, end, err := d.chunks()
	if err != nil {
		return err
	}
	if decoded > len(d.dst)-d.n {
		return tooLong(XZ{}, len(d.dst))
	}
	in := bytes.NewReader(d.src[d.at:end])
	// No match is farther back than the block is long.
	config := lzma.Reader2Config{DictCap: int(max(min(dictionary, int64(decoded)), lzma.MinDictCap))}
	r, err := config.NewReader2(in)
	if err == nil {
		_, err = io.ReadFull(r, d.dst[d.n:d.n+decoded])
	}
	if err == nil {
		var past [1]byte
		if _, err = r.Read(past[:]); err == nil {
			err = errors.New("more bytes than the chunks say")
		}
	}
	if err != io.EOF || in.Len() > 0 {
		return failed(XZ{}, err)
	}
	d.at, d.n = end, d.n+decoded
	return nil
}

// chunks returns how many bytes the chunks of LZMA2 at d.at decode to, and the offset of their end. A chunk starts with
// a control byte:
//
//	0        the end
//	1, 2     length − 1 (16 bits, big-endian), stored bytes
//	128 …    bits 16 to 20 of the decoded length − 1 in bits 0 to 4, its other bits (16, big-endian), stored
//	         length − 1 (16, big-endian), properties if bit 6 is set, stored bytes
func (d *xzDecoder) chunks() (decoded, end int, err error) {
	in := xzDecoder{src: d.src, at: d.at}
	for {
		b, err := in.take(1)
		if err != nil {
			return 0, 0, err
		}
		control := int(b[0])
		switch {
		case control == 0:
			return decoded, in.at, nil
		case control > 2 && control < 128:
			return 0, 0, in.invalid("control byte of LZMA2", -1, "0, 1, 2 or 128 or more", fmt.Sprint(control))
		}
		sizes, err := in.take(2)
		if err != nil {
			return 0, 0, err
		}
		stored := int(binary.BigEndian.Uint16(sizes)) + 1
		decoded += stored
		if control >= 128 {
			decoded += control & 31 << 16
			if sizes, err = in.take(2); err != nil {
				return 0, 0, err
			}
			stored = int(binary.BigEndian.Uint16(sizes)) + 1 + control>>6&1
		}
		if _, err := in.take(stored); err != nil {
			return 0, 0, err
		}
	}
}

// end reads the index (4) and the footer (2.1.2), which must fit the blocks and the flags of the header.
func (d *xzDecoder) end(flags []byte) error {
	start := d.at
	d.at++
	count, err := d.number()
	if err != nil {
		return err
	}
	if count != uint64(len(d.records)) {
		return d.invalid("records in the index", start-d.at, fmt.Sprint(len(d.records)), fmt.Sprint(count))
	}
	for _, want := range d.records {
		stored, err := d.number()
		if err != nil {
			return err
		}
		decoded, err := d.number()
		if err != nil {
			return err
		}
		if found := (xzRecord{stored, decoded}); found != want {
			return d.invalid("record in the index", 0, fmt.Sprint(want), fmt.Sprint(found))
		}
	}
	if err := d.zeros((start - d.at) & 3); err != nil {
		return err
	}
	if err := d.crc32("index", d.src[start:d.at]); err != nil {
		return err
	}
	size := d.at - start
	footer, err := d.take(xzHeaderBytes)
	if err != nil {
		return err
	}
	want := binary.LittleEndian.AppendUint32(nil, uint32(size/4-1))
	want = append(want, flags...)
	want = append(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(want)), want...)
	if want = append(want, "YZ"...); !bytes.Equal(footer, want) {
		return d.invalid("footer", -xzHeaderBytes, fmt.Sprintf("%x", want), fmt.Sprintf("%x", footer))
	}
	return nil
}
