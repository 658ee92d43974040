package arrayfile

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
	"github.com/wkwfs/wkwfs/volume"
)

// packed packs rows of pixels of 0 or 1 into bits. The bits after a row are set.
func packed(b []byte, width int) (out []byte) {
	for row := range slices.Chunk(b, width) {
		line := bytes.Repeat([]byte{0xFF}, packedRow(width))
		for x, v := range row {
			line[x/8] &^= (1 - v) << (7 - x%8)
		}
		out = append(out, line...)
	}
	return out
}

// TestTIFFBits reads pixels of one bit in every kind of chunk, and boxes of them. They are labels.
func TestTIFFBits(t *testing.T) {
	const width, height = 37, 21
	want := make([]byte, width*height)
	for i := range want {
		want[i] = byte(i * i / 7 % 2)
	}
	g := volume.Grid{Size: volume.Vec{width, height, 1}, Block: volume.Cube(1), Type: volume.Uint8, Channels: 1}
	for compression, compress := range map[uint16]func([]byte) []byte{
		tiff.Uncompressed: func(b []byte) []byte { return b }, tiff.PackBits: packBits, tiff.Deflate: deflated,
		tiff.Zstd: zstded,
	} {
		for _, f := range []tiffFields{{tile: 16}, {rows: 1}, {rows: 8}, {rows: height}} {
			f.width, f.height, f.bits, f.compression = width, height, 1, compression
			parts, side := slices.Collect(slices.Chunk(want, max(f.rows, 1)*width)), width
			if f.tile > 0 {
				parts, side = tiles(want, width, height, 1, f.tile), f.tile
			}
			var chunks [][]byte
			for _, part := range parts {
				bits := bytes.Clone(part)
				for i := range bits {
					bits[i] &= 1 // padding is not
				}
				chunks = append(chunks, compress(packed(bits, side)))
			}
			path := filepath.Join(t.TempDir(), "f.tif")
			write(t, path, tiffOf(f, chunks))
			a := mustOpen(t, path)
			if a.Grid != g || a.Labels.Content != Segmentation || !a.WholePlanes() {
				t.Errorf("%+v: got %+v, %v", f, a.Grid, a.Labels)
			}
			checkBoxes(t, a, boxes(g.Size), want, f)
		}
	}
}

// grayPNG returns a PNG of one row of five gray pixels.
func grayPNG(depth byte, transparent bool, row []byte) []byte {
	b := []byte(pngMagic)
	chunk := func(kind string, data []byte) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
		body := append([]byte(kind), data...)
		b = binary.BigEndian.AppendUint32(append(b, body...), crc32.ChecksumIEEE(body))
	}
	chunk("IHDR", []byte{0, 0, 0, 5, 0, 0, 0, 1, depth, 0, 0, 0, 0})
	if transparent {
		chunk("tRNS", []byte{0, 1}) // the value 1
	}
	chunk("IDAT", deflated(append([]byte{0}, row...)))
	chunk("IEND", nil)
	return b
}

// TestPNGBits: gray values of 1, 2 and 4 bits are not scaled. Those of one bit are labels.
func TestPNGBits(t *testing.T) {
	for depth, test := range map[byte]struct{ row, want []byte }{
		1: {[]byte{0b0101_1000}, []byte{0, 1, 0, 1, 1}},
		2: {[]byte{0b00_01_10_11, 0b01_00_00_00}, []byte{0, 1, 2, 3, 1}},
		4: {[]byte{0x0f, 0x1e, 0x20}, []byte{0, 15, 1, 14, 2}},
	} {
		for _, transparent := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "f.png")
			write(t, path, grayPNG(depth, transparent, test.row))
			a := mustOpen(t, path)
			if got := voxelsOf(t, a); !bytes.Equal(got, test.want) ||
				(a.Labels.Content == Segmentation) != (depth == 1) {
				t.Errorf("%d bits, transparent: %v: got %v, %v, want %v", depth, transparent, got, a.Labels, test.want)
			}
		}
	}
}

// TestWhiteIsZero: bits are read as they are stored, with a warning.
func TestWhiteIsZero(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.tif")
	b := tiffOf(tiffFields{width: 2, height: 1, bits: 1}, [][]byte{{0b0100_0000}})
	at := bytes.Index(b, []byte{tiff.TagPhotometric % 256, tiff.TagPhotometric / 256, tiff.Short, 0, 1, 0, 0, 0})
	b[at+8] = tiff.WhiteIsZero
	write(t, path, b)
	a := mustOpen(t, path)
	if got := voxelsOf(t, a); !bytes.Equal(got, []byte{0, 1}) || len(a.Warnings) != 1 {
		t.Errorf("got %v, %q", got, a.Warnings)
	}
}
