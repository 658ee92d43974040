package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// sample returns the value of a channel of a pixel. It encodes the position.
func sample(x, y, c, bits int) int {
	return (y*37 + x*5 + c*71 + 3) & (1<<bits - 1) * (1 + 255*(bits/16))
}

// wantSamples returns the decoded picture of these samples.
func wantSamples(width, height, channels, bits int) []byte {
	var out []byte
	for y := range height {
		for x := range width {
			for c := range channels {
				v := sample(x, y, c, bits)
				out = append(out, binary.LittleEndian.AppendUint16(nil, uint16(v))[:bits/8]...)
			}
		}
	}
	return out
}

// pngChunk returns a chunk of a PNG file.
func pngChunk(kind string, content []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	out = append(append(out, kind...), content...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// encodePNG returns a picture of any color type, with more chunks after the header.
func encodePNG(width, height, bits int, colorType byte, more ...[]byte) []byte {
	var raw []byte
	for y := range height {
		raw = append(raw, 0)
		if bits < 8 || colorType == 3 {
			raw = append(raw, make([]byte, (width*bits+7)/8)...)
			continue
		}
		for x := range width {
			for c := range pngChannels[colorType] {
				v := binary.BigEndian.AppendUint16(nil, uint16(sample(x, y, c, bits)))
				raw = append(raw, v[2-bits/8:]...)
			}
		}
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(raw)
	z.Close()
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(width)), uint32(height))
	out := append([]byte("\x89PNG\r\n\x1a\n"), pngChunk("IHDR", append(header, byte(bits), colorType, 0, 0, 0))...)
	for _, chunk := range more {
		out = append(out, chunk...)
	}
	return append(append(out, pngChunk("IDAT", packed.Bytes())...), pngChunk("IEND", nil)...)
}

var colorTypes = []byte{1: 0, 2: 4, 3: 2, 4: 6} // by channels

func TestPNG(t *testing.T) {
	const width, height = 5, 7
	for channels := 1; channels <= 4; channels++ {
		for _, bits := range []int{8, 16} {
			want := wantSamples(width, height, channels, bits)
			got := make([]byte, len(want))
			err := DecodePNG(encodePNG(width, height, bits, colorTypes[channels]), width*height, channels, bits/8, got)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d × %d bits: got %v, %v, expected %v", channels, bits, got, err, want)
			}
		}
	}
}

// tinyJXL has the smallest pictures of the reference data by channels: 8 × 4, gray and RGB.
var tinyJXL = map[int]string{
	1: "ff0a1870101417020802010084004b12a542852452ebce6d6afd2e0a009f4fd8d5ec5a672920c9f6cb21575e00a700",
	3: "ff0a187010505c080802010028014b12a542852452ea365c4ecdca5e7580ff00fc00255c7b1249514d305c43521cf4ae9f8fd3e966f7b7cd6aa5007dd863bc2bd46f06a2fe55734aba33db66181845e6a179ac8db09a6d00",
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func encodeJPEG(m image.Image) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 100}); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestJPEG(t *testing.T) {
	gray, rgba := image.NewGray(image.Rect(0, 0, 19, 5)), image.NewRGBA(image.Rect(0, 0, 19, 5))
	for y := range 5 {
		for x := range 19 {
			gray.Pix[y*gray.Stride+x] = byte(x * 10)
			rgba.SetRGBA(x, y, color.RGBA{200, byte(40 * y), 30, 255})
		}
	}
	for channels, m := range map[int]image.Image{1: gray, 3: rgba} {
		got := make([]byte, 19*5*channels)
		if err := DecodeJPEG(encodeJPEG(m), 19*5, channels, 1, got); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			r, g, b, _ := m.At(i/channels%19, i/channels/19).RGBA()
			want := int([...]uint32{r, g, b}[i%channels] >> 8)
			if d := int(v) - want; d < -40 || d > 40 { // chroma is halved in both directions
				t.Errorf("%d channels: value %d is %d, expected about %d", channels, i, v, want)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	gray := encodePNG(8, 4, 8, 0)
	huge := encodePNG(1, 1, 8, 0, pngChunk("tEXt", nil))
	binary.BigEndian.PutUint32(huge[16:], 1<<16)
	binary.BigEndian.PutUint32(huge[20:], 1<<14)
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	hugeJPEG := encodeJPEG(image.NewGray(image.Rect(0, 0, 8, 4)))
	sof := bytes.Index(hugeJPEG, []byte{0xFF, 0xC0})
	binary.BigEndian.PutUint32(hugeJPEG[sof+5:], 65000<<16|65000)
	palette := pngChunk("PLTE", make([]byte, 6))
	for _, c := range []struct {
		name            string
		decode          decodeFunc
		data            []byte
		pixels          int
		channels, bytes int
		want            string
	}{
		{"huge png", DecodePNG, huge, 32, 1, 1, "png: size: expected 32 pixels, found 65536 × 16384"},
		{"other area", DecodePNG, gray, 33, 1, 1, "png: size: expected 33 pixels, found 8 × 4"},
		{"part of the area", DecodePNG, gray, 64, 1, 1, "png: size: expected 64 pixels, found 8 × 4"},
		{"channels", DecodePNG, gray, 32, 3, 1,
			"png: samples: expected 3 × 8 bits per pixel, found 1 × 8 bits per pixel"},
		{"alpha", DecodePNG, encodePNG(8, 4, 8, 4), 32, 4, 1,
			"png: samples: expected 4 × 8 bits per pixel, found 2 × 8 bits per pixel"},
		{"16 bits", DecodePNG, encodePNG(8, 4, 16, 0), 32, 1, 1,
			"png: samples: expected 1 × 8 bits per pixel, found 1 × 16 bits per pixel"},
		{"8 bits", DecodePNG, gray, 32, 1, 2,
			"png: samples: expected 1 × 16 bits per pixel, found 1 × 8 bits per pixel"},
		{"1 bit", DecodePNG, encodePNG(8, 4, 1, 0), 32, 1, 1,
			"png: samples: expected 1 × 8 bits per pixel, found 1 × 1 bits per pixel"},
		{"palette", DecodePNG, encodePNG(8, 4, 8, 3, palette), 32, 1, 1,
			"png: color type: expected 1 × 8 bits per pixel, found type 3"},
		{"transparent", DecodePNG, encodePNG(8, 4, 8, 0, pngChunk("tEXt", nil), pngChunk("tRNS", []byte{0, 1})), 32, 1,
			1, "png: transparency: expected no transparent color, found a tRNS chunk"},
		{"cut off", DecodePNG, gray[:len(gray)-30], 32, 1, 1,
			"png: data: expected a valid picture, found png: invalid format: not enough pixel data"},
		{"no png", DecodePNG, []byte("\x89PNG"), 32, 1, 1, "png: data: expected a valid picture, found unexpected EOF"},
		{"huge jpeg", DecodeJPEG, hugeJPEG, 32, 1, 1, "jpeg: size: expected 32 pixels, found 65000 × 65000"},
		{"gray jpeg", DecodeJPEG, encodeJPEG(image.NewGray(image.Rect(0, 0, 8, 4))), 32, 3, 1,
			"jpeg: samples: expected 3 × 8 bits per pixel, found 1 × 8 bits per pixel"},
		{"color jpeg", DecodeJPEG, encodeJPEG(image.NewRGBA(image.Rect(0, 0, 8, 4))), 32, 1, 1,
			"jpeg: samples: expected 1 × 8 bits per pixel, found 3 × 8 bits per pixel"},
		{"no jpeg", DecodeJPEG, nil, 32, 1, 1, "jpeg: data: expected a valid picture, found unexpected EOF"},
		{"no jxl", DecodeJXL, nil, 32, 1, 1,
			"jxl: signature: expected FF 0A, or a container with a codestream, found "},
		{"empty container", DecodeJXL, jxlSignature, 32, 1, 1,
			"jxl: signature: expected FF 0A, or a container with a codestream, found "},
		{"short jxl", DecodeJXL, unhex(tinyJXL[1])[:4], 32, 1, 1,
			"jxl: header: expected more data, found the end after 4 bytes"},
		{"huge jxl", DecodeJXL, append([]byte{0xFF, 0x0A}, bytes.Repeat([]byte{0xFE}, 40)...), 32, 3, 1,
			"jxl: size: expected 32 pixels, found 1069531072 × 534765536"},
		{"jxl channels", DecodeJXL, unhex(tinyJXL[3]), 32, 1, 1,
			"jxl: samples: expected 1 × 8 bits per pixel, found 3 × 8 bits per pixel"},
		{"jxl area", DecodeJXL, unhex(tinyJXL[3]), 16, 3, 1, "jxl: size: expected 16 pixels, found 8 × 4"},
		{"jxl cut off", DecodeJXL, unhex(tinyJXL[3])[:60], 32, 3, 1,
			"jxl: data: expected a valid picture, found damaged, or needs more memory than the limit of the decoder"},
	} {
		err := c.decode(c.data, c.pixels, c.channels, c.bytes, make([]byte, c.pixels*c.channels*c.bytes))
		if _, is := errors.AsType[*volume.FormatError](err); !is || err.Error() != c.want {
			t.Errorf("%s: got\n%v, expected\n%s", c.name, err, c.want)
		}
	}
}

// TestArguments: invalid arguments are errors.
func TestArguments(t *testing.T) {
	for name, decode := range encodings {
		for _, c := range [][4]int{{0, 1, 1, 0}, {-1, 1, 1, 0}, {4, 0, 1, 0}, {4, 5, 1, 20}, {4, 1, 3, 12},
			{4, 1, 1, 3}, {4, 1, 1, 5}, {1 << 62, 4, 2, 0}} {
			if err := decode(encodePNG(2, 2, 8, 0), c[0], c[1], c[2], make([]byte, c[3])); err == nil ||
				strings.Contains(err.Error(), "signature") {
				t.Errorf("%s %v: got %v", name, c, err)
			}
		}
	}
}

// TestJXLMemory: the decoder fails if it needs more memory than its limit.
func TestJXLMemory(t *testing.T) {
	h, err := shape{}.parseJXL(unhex(tinyJXL[1]))
	if err != nil || h != (jxlHeader{8, 4, 8, 1}) {
		t.Fatalf("got %+v, %v", h, err)
	}
	for limit, enough := range map[int]bool{192 << 10: false, 64 << 20: true} {
		l, err := loadLibjxl(limit)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.decode(unhex(tinyJXL[1]), h); (err == nil) != enough {
			t.Errorf("%d bytes: %v", limit, err)
		}
	}
}

func fuzz(f *testing.F, decode decodeFunc) {
	f.Fuzz(func(t *testing.T, data []byte, pixels, channels, bytes int) {
		if pixels < 1 || pixels > 1<<16 || channels < 1 || channels > 4 || bytes < 1 || bytes > 2 {
			return
		}
		err := decode(data, pixels, channels, bytes, make([]byte, pixels*channels*bytes))
		if _, is := errors.AsType[*volume.FormatError](err); err != nil && !is && channels*bytes == 1 {
			t.Fatal(err)
		}
	})
}

func FuzzDecodePNG(f *testing.F) {
	for channels := 1; channels <= 4; channels++ {
		f.Add(encodePNG(8, 4, 8, colorTypes[channels]), 32, channels, 1)
		f.Add(encodePNG(8, 4, 16, colorTypes[channels]), 32, channels, 2)
	}
	fuzz(f, DecodePNG)
}

func FuzzDecodeJPEG(f *testing.F) {
	f.Add(encodeJPEG(image.NewGray(image.Rect(0, 0, 8, 4))), 32, 1, 1)
	f.Add(encodeJPEG(image.NewRGBA(image.Rect(0, 0, 9, 4))), 36, 3, 1)
	fuzz(f, DecodeJPEG)
}

func FuzzDecodeJXL(f *testing.F) {
	for channels, picture := range tinyJXL {
		f.Add(unhex(picture), 32, channels, 1)
	}
	fuzz(f, DecodeJXL)
}

func BenchmarkDecode(b *testing.B) {
	for channels := 1; channels <= 4; channels++ {
		for _, bits := range []int{8, 16} {
			b.Run(fmt.Sprintf("png/%d×%d", channels, bits), func(b *testing.B) {
				benchmark(b, DecodePNG, encodePNG(64, 4096, bits, colorTypes[channels]), channels, bits/8)
			})
		}
	}
	b.Run("jpeg/1", func(b *testing.B) {
		benchmark(b, DecodeJPEG, encodeJPEG(image.NewGray(image.Rect(0, 0, 64, 4096))), 1, 1)
	})
	b.Run("jpeg/3", func(b *testing.B) {
		benchmark(b, DecodeJPEG, encodeJPEG(image.NewRGBA(image.Rect(0, 0, 64, 4096))), 3, 1)
	})
}

func benchmark(b *testing.B, decode decodeFunc, data []byte, channels, width int) {
	dst := make([]byte, 64*4096*channels*width)
	b.SetBytes(int64(len(dst)))
	for b.Loop() {
		if err := decode(data, 64*4096, channels, width, dst); err != nil {
			b.Fatal(err)
		}
	}
}
