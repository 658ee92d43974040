package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// jxlHeader has the fields of a JPEG XL header that a chunk needs.
type jxlHeader struct {
	width, height int
	bits          int // of a sample
	channels      int // with alpha
}

// jxlSignature is the start of a JPEG XL file in a container.
var jxlSignature = []byte{0, 0, 0, 12, 'J', 'X', 'L', ' ', '\r', '\n', 0x87, '\n'}

// parseJXL parses the header of a picture, bare or in a container.
func (s shape) parseJXL(data []byte) (jxlHeader, error) {
	if bytes.HasPrefix(data, jxlSignature) {
		data = jxlCodestream(data)
	}
	if len(data) < 2 || data[0] != 0xFF || data[1] != 0x0A {
		return jxlHeader{}, s.fault("signature", "FF 0A, or a container with a codestream",
			fmt.Sprintf("% X", data[:min(2, len(data))]))
	}
	b := &bitReader{data: data[2:]}
	h := jxlHeader{bits: 8, channels: 3}
	h.width, h.height = b.size()
	unsupported := b.metadata(&h)
	switch {
	case b.overrun():
		return jxlHeader{}, s.fault("header", "more data", fmt.Sprintf("the end after %d bytes", len(data)))
	case unsupported != "":
		return jxlHeader{}, s.fault("picture", "samples of 8 or 16 bits, no other channel than colors and alpha",
			unsupported)
	}
	return h, nil
}

// jxlCodestream returns the start of the codestream in a container: the content of the jxlc box or of the first jxlp
// box (ISO/IEC 18181-2, §9). It returns nil if there is none.
func jxlCodestream(data []byte) []byte {
	for len(data) >= 8 {
		length, header := uint64(binary.BigEndian.Uint32(data)), uint64(8)
		if length == 1 && len(data) >= 16 {
			length, header = binary.BigEndian.Uint64(data[8:]), 16
		}
		if length == 0 || length > uint64(len(data)) { // to the end
			length = uint64(len(data))
		}
		if length < header {
			return nil
		}
		content := data[header:length]
		switch string(data[4:8]) {
		case "jxlc":
			return content
		case "jxlp": // starts with the number of the part
			return content[min(4, len(content)):]
		}
		data = data[length:]
	}
	return nil
}

// size reads SizeHeader (ISO/IEC 18181-1, D.2). It has the height, and the width or its ratio to the height.
func (b *bitReader) size() (width, height int) {
	small := b.flag()
	side := func() int {
		if small {
			return 8 * (1 + b.bits(5))
		}
		return 1 + b.choose(9, 13, 18, 30)
	}
	height = side()
	if ratio := b.bits(3); ratio > 0 {
		r := [...][2]int{{1, 1}, {12, 10}, {4, 3}, {3, 2}, {16, 9}, {5, 4}, {2, 1}}[ratio-1]
		return height * r[0] / r[1], height
	}
	return side(), height
}

// metadata reads ImageMetadata (D.3) up to the color space. It returns the first feature that is not supported, or "".
func (b *bitReader) metadata(h *jxlHeader) string {
	if b.flag() { // all fields have their defaults
		return ""
	}
	if b.flag() {
		if b.bits(3) != 0 {
			return "an orientation"
		}
		if b.flag() {
			b.size() // intrinsic size
		}
		if b.flag() {
			return "a preview"
		}
		if b.flag() {
			return "an animation"
		}
	}
	if h.bits = b.depth(); h.bits == 0 {
		return "floating point"
	}
	b.flag() // 16-bit buffers are sufficient
	switch extra := b.select4(field{0, 0}, field{1, 0}, field{2, 4}, field{1, 12}); {
	case extra > 1:
		return fmt.Sprintf("%d extra channels", extra)
	case extra == 1:
		if unsupported := b.alpha(h.bits); unsupported != "" {
			return unsupported
		}
		h.channels++
	}
	b.flag() // XYB encoded
	if !b.flag() {
		b.flag() // has an ICC profile
		const gray, unknown = 1, 3
		switch space := b.enum(); {
		case space == gray:
			h.channels -= 2
		case space >= unknown:
			return "an unknown color space"
		}
	}
	return ""
}

// depth reads BitDepth (D.3.4). It returns the bits of a sample, or 0 for floating point.
func (b *bitReader) depth() int {
	if b.flag() {
		return 0
	}
	return b.select4(field{8, 0}, field{10, 0}, field{12, 0}, field{1, 6})
}

// alpha reads ExtraChannelInfo (D.3.6). It must be an alpha channel with the given bits and the size of the picture.
// If it is not, alpha returns a description of the channel, else "".
func (b *bitReader) alpha(bits int) string {
	if b.flag() { // defaults: alpha of 8 bits
		if bits != 8 {
			return fmt.Sprintf("alpha of 8 bits with colors of %d bits", bits)
		}
		return ""
	}
	if kind := b.enum(); kind != 0 {
		return fmt.Sprintf("an extra channel of type %d", kind)
	}
	if d := b.depth(); d != bits {
		return fmt.Sprintf("alpha of %d bits with colors of %d bits", d, bits)
	}
	if b.select4(field{0, 0}, field{3, 0}, field{4, 0}, field{1, 3}) != 0 {
		return "subsampled alpha"
	}
	for range b.select4(field{0, 0}, field{0, 4}, field{16, 5}, field{48, 10}) {
		b.bits(8) // name
	}
	b.flag() // colors are premultiplied
	return ""
}

// bitReader reads the fields of a header. The lowest bits of a byte come first. After the end of the data it returns
// zeros.
type bitReader struct {
	data []byte
	at   int // in bits
}

// overrun reports whether bits after the end were read.
func (b *bitReader) overrun() bool { return b.at > 8*len(b.data) }

func (b *bitReader) bits(n int) int {
	v := 0
	for i := range n {
		if at := b.at + i; at < 8*len(b.data) {
			v |= int(b.data[at/8]>>(at%8)&1) << i
		}
	}
	b.at += n
	return v
}

func (b *bitReader) flag() bool { return b.bits(1) == 1 }

// field is a number: base plus a value of some bits.
type field struct{ base, bits int }

// select4 reads U32 (B.2.2): one of four fields.
func (b *bitReader) select4(f ...field) int {
	chosen := f[b.bits(2)]
	return chosen.base + b.bits(chosen.bits)
}

// choose reads U32 with four widths, in bits.
func (b *bitReader) choose(w0, w1, w2, w3 int) int {
	return b.select4(field{0, w0}, field{0, w1}, field{0, w2}, field{0, w3})
}

// enum reads Enum (B.2.6).
func (b *bitReader) enum() int {
	return b.select4(field{0, 0}, field{1, 0}, field{2, 4}, field{18, 6})
}
