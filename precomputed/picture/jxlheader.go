package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// jxlHeader is what a JPEG XL picture says of itself, as far as a chunk goes.
type jxlHeader struct {
	width, height int
	bits          int // of a sample
	channels      int // alpha included
}

// jxlSignature begins the box that a JPEG XL file in a container begins with.
var jxlSignature = []byte{0, 0, 0, 12, 'J', 'X', 'L', ' ', '\r', '\n', 0x87, '\n'}

// parseJXL reads the header of a picture, bare or in a container.
func (s shape) parseJXL(data []byte) (jxlHeader, error) {
	if bytes.HasPrefix(data, jxlSignature) {
		data = jxlCodestream(data)
	}
	if len(data) < 2 || data[0] != 0xFF || data[1] != 0x0A {
		return jxlHeader{}, s.fault("signature", "FF 0A, or a container with a codestream", fmt.Sprintf("% X", data[:min(2, len(data))]))
	}
	b := &bitReader{data: data[2:]}
	h := jxlHeader{bits: 8, channels: 3}
	h.width, h.height = b.size()
	what := b.metadata(&h)
	switch {
	case b.overrun():
		return jxlHeader{}, s.fault("header", "more data", fmt.Sprintf("the end after %d bytes", len(data)))
	case what != "":
		return jxlHeader{}, s.fault("picture", "samples of 8 or 16 bits, alpha or nothing beside the colors", what)
	}
	return h, nil
}

// jxlCodestream returns the begin of the codestream in a container: the content of its
// box, or of the first of its parts; nil if there is none (ISO/IEC 18181-2, §9).
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
		case "jxlp": // behind the number of the part
			return content[min(4, len(content)):]
		}
		data = data[length:]
	}
	return nil
}

// size reads SizeHeader (ISO/IEC 18181-1, D.2): the height, and the width or its ratio
// to the height.
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

// metadata reads ImageMetadata (D.3) up to the color space. It returns what is there
// that a chunk cannot have, "" if nothing.
func (b *bitReader) metadata(h *jxlHeader) string {
	if b.flag() { // all as in most pictures
		return ""
	}
	if b.flag() {
		if b.bits(3) != 0 {
			return "an orientation"
		}
		if b.flag() {
			b.size() // to show it in
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
	b.flag() // whether a decoder may compute with 16 bits
	switch extra := b.select4(field{0, 0}, field{1, 0}, field{2, 4}, field{1, 12}); {
	case extra > 1:
		return fmt.Sprintf("%d channels beside the colors", extra)
	case extra == 1:
		if what := b.alpha(h.bits); what != "" {
			return what
		}
		h.channels++
	}
	b.flag() // whether colors are stored as XYB
	if !b.flag() {
		b.flag() // an ICC profile
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

// depth reads BitDepth (D.3.4): the bits of a sample, 0 for floating point.
func (b *bitReader) depth() int {
	if b.flag() {
		return 0
	}
	return b.select4(field{8, 0}, field{10, 0}, field{12, 0}, field{1, 6})
}

// alpha reads ExtraChannelInfo (D.3.6), which must be of an alpha channel with so many
// bits and of the picture's size. It returns what it is instead, "" if it is that.
func (b *bitReader) alpha(bits int) string {
	if b.flag() { // alpha of 8 bits
		if bits != 8 {
			return fmt.Sprintf("alpha of 8 bits beside colors of %d", bits)
		}
		return ""
	}
	if kind := b.enum(); kind != 0 {
		return fmt.Sprintf("an extra channel of type %d", kind)
	}
	if d := b.depth(); d != bits {
		return fmt.Sprintf("alpha of %d bits beside colors of %d", d, bits)
	}
	if b.select4(field{0, 0}, field{3, 0}, field{4, 0}, field{1, 3}) != 0 {
		return "alpha of fewer pixels"
	}
	for range b.select4(field{0, 0}, field{0, 4}, field{16, 5}, field{48, 10}) {
		b.bits(8) // name
	}
	b.flag() // whether colors were multiplied with it
	return ""
}

// bitReader reads a header's fields, the lowest bits of a byte first. Behind the end of
// the data there are zeros.
type bitReader struct {
	data []byte
	at   int // in bits
}

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

// field is a number: base plus the value of so many bits.
type field struct{ base, bits int }

// select4 reads U32 (B.2.2): one of four fields.
func (b *bitReader) select4(f ...field) int {
	chosen := f[b.bits(2)]
	return chosen.base + b.bits(chosen.bits)
}

// choose reads U32 of four widths.
func (b *bitReader) choose(w0, w1, w2, w3 int) int {
	return b.select4(field{0, w0}, field{0, w1}, field{0, w2}, field{0, w3})
}

// enum reads Enum (B.2.6).
func (b *bitReader) enum() int {
	return b.select4(field{0, 0}, field{1, 0}, field{2, 4}, field{18, 6})
}
