package integration

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// jxlOfZeros is a picture of 128 × 8192 pixels, by cjxl -d 0 -e 9 --container=0 of libjxl.
const jxlOfZeros = "/wr6/+APCIoLAQgCAQAYAAAAAAAAAAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQABLGIsVggEDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAw=="

// chunk returns the stored bytes of a chunk with planes voxels on z.
func (c memoryCase) chunk(t testing.TB, planes int) []byte {
	b := c.voxels(planes)
	if c.Big {
		for i := 0; i+4 <= len(b); i += 4 { // values are equal on both ends
			slices.Reverse(b[i : i+4])
		}
	}
	if c.Stored == "long" && len(b)*memoryLongTimes <= 1<<30 {
		b = make([]byte, memoryLongTimes*len(b))
	}
	for _, name := range c.Codecs {
		b = c.encode(t, name, b, planes)
	}
	r := c.Content.Rand()
	switch c.Stored {
	case "cut":
		b = b[:len(b)/2]
	case "noise":
		for i := min(8, len(b)/2); i < min(len(b), 1<<20); i++ {
			b[i] = byte(r.Uint32())
		}
	case "claims": // sizes in the header become large
		for i := range 4 {
			if at := r.IntN(min(len(b), 40)); i > 0 {
				b[at] = byte(0xff - i)
			}
		}
	}
	return b
}

// encode encodes bytes as a codec of that name does.
func (c memoryCase) encode(t testing.TB, name string, b []byte, planes int) []byte {
	t.Helper()
	var out bytes.Buffer
	le := binary.LittleEndian
	write := func(w interface {
		Write([]byte) (int, error)
		Close() error
	}, err error) []byte {
		if err == nil {
			_, err = w.Write(b)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	switch name {
	case "", "raw":
		return b
	case "gzip":
		return write(gzip.NewWriterLevel(&out, gzip.BestSpeed))
	case "numcodecs.zlib", "zlib":
		return write(zlib.NewWriterLevel(&out, zlib.BestSpeed))
	case "zstd": // frames do not say how long their content is
		return write(zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)))
	case "numcodecs.xz", "xz":
		return write(xz.NewWriter(&out))
	case "numcodecs.lzma":
		return write(lzma.WriterConfig{Size: int64(len(b)), EOSMarker: true, SizeInHeader: false}.NewWriter(&out))
	case "numcodecs.bz2", "bzip2":
		return bzip2OfZeros(t, len(b))
	case "crc32c":
		return le.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	case "numcodecs.lz4":
		return append(le.AppendUint32(nil, uint32(len(b))), lz4Literals(b)...)
	case "lz4":
		if c.family() == "wkw" {
			return lz4Literals(b)
		}
		return lz4JavaOf(b)
	case "blosc":
		return bloscStored(b, 256<<10)
	case "compressed_segmentation": // every block has the label 0 of one table
		headers := (c.Plane[0] + 7) / 8 * ((c.Plane[1] + 7) / 8) * ((planes + 7) / 8)
		out := append(le.AppendUint32(nil, 1), make([]byte, 8*headers+8)...)
		for i := range headers {
			le.PutUint32(out[4+8*i:], uint32(2*headers))
		}
		return out
	case "compresso": // no boundary, and one component
		out := append([]byte("cpso"), 0, byte(c.valueBytes()))
		for _, n := range []int{c.Plane[0], c.Plane[1], planes} {
			out = le.AppendUint16(out, uint16(n))
		}
		out = append(out, 4, 4, 1)
		out = le.AppendUint64(out, 1)
		out = append(out, make([]byte, 12)...)
		return append(append(out, 6), make([]byte, c.valueBytes())...)
	case "png", "jpeg":
		m := &image.Gray{Pix: b, Stride: c.Plane[0], Rect: image.Rect(0, 0, c.Plane[0], len(b)/c.Plane[0])}
		err := png.Encode(&out, m)
		if name == "jpeg" {
			out.Reset()
			err = jpeg.Encode(&out, m, nil)
		}
		if err != nil {
			t.Skip(err) // too large for the format
		}
		return out.Bytes()
	case "jxl":
		if c.hasJXL() {
			picture, err := base64.StdEncoding.DecodeString(jxlOfZeros)
			if err != nil {
				t.Fatal(err)
			}
			return picture
		}
		// A header alone: a picture of 2^30 × 2^30 pixels.
		return append([]byte{0xff, 0x0a, 0xf6, 0xff, 0xff, 0xff, 0xff}, make([]byte, 100)...)
	}
	t.Fatalf("no encoder of %q", name)
	return nil
}

// bzip2OfZeros returns streams of zeros, one after the other.
func bzip2OfZeros(t testing.TB, n int) (b []byte) {
	t.Helper()
	const mebibyte = "QlpoOTFBWSZTWThXHOUACAhAAMAEAAggADDMBSmmCAbEIB4u5IpwoSBwrjnK"
	stream, err := base64.StdEncoding.DecodeString(mebibyte)
	if err != nil {
		t.Fatal(err)
	}
	if n%(1<<20) != 0 {
		t.Skip("no such stream")
	}
	return bytes.Repeat(stream, n>>20)
}

// lz4Literals returns an LZ4 block without matches.
func lz4Literals(b []byte) []byte {
	if len(b) < 15 {
		return append([]byte{byte(len(b) << 4)}, b...)
	}
	n := len(b) - 15
	out := append([]byte{0xf0}, bytes.Repeat([]byte{255}, n/255)...)
	return append(append(out, byte(n%255)), b...)
}

// lz4JavaOf returns a stream of lz4-java with stored blocks, and wrong checksums if they are not zeros of 64 KiB.
func lz4JavaOf(b []byte) (out []byte) {
	const block, magic, stored = 64 << 10, "LZ4Block", 0x10 | 6
	le := binary.LittleEndian
	for ; ; b = b[min(block, len(b)):] {
		n := min(block, len(b))
		out = append(append(out, magic...), stored)
		out = le.AppendUint32(le.AppendUint32(out, uint32(n)), uint32(n))
		sum := uint32(0)
		if n > 0 {
			sum = xxh32Of(b[:n]) & (1<<28 - 1)
		}
		out = append(le.AppendUint32(out, sum), b[:n]...)
		if n == 0 {
			return out
		}
	}
}

// xxh32Of is xxHash with the seed of lz4-java, for a multiple of 16 bytes.
func xxh32Of(b []byte) uint32 {
	const p1, p2, p3, p4 = 2654435761, 2246822519, 3266489917, 668265263
	const seed = uint32(0x9747b28c)
	rotate := func(v uint32, n int) uint32 { return v<<n | v>>(32-n) }
	p1v, p2v := uint32(p1), uint32(p2)
	v := [4]uint32{seed + p1v + p2v, seed + p2v, seed, seed - p1v}
	n := len(b)
	for ; len(b) >= 16; b = b[16:] {
		for i := range v {
			v[i] = rotate(v[i]+binary.LittleEndian.Uint32(b[4*i:])*p2v, 13) * p1v
		}
	}
	h := rotate(v[0], 1) + rotate(v[1], 7) + rotate(v[2], 12) + rotate(v[3], 18) + uint32(n)
	for ; len(b) >= 4; b = b[4:] {
		h = rotate(h+binary.LittleEndian.Uint32(b)*uint32(p3), 17) * uint32(p4)
	}
	h = (h ^ h>>15) * p2v
	h = (h ^ h>>13) * uint32(p3)
	return h ^ h>>16
}

// bloscStored returns a chunk of blosc with blocks that are not compressed. They are in reverse order.
func bloscStored(b []byte, size int) []byte {
	le := binary.LittleEndian
	n := max((len(b)+size-1)/size, 1)
	body := make([]byte, 4*n, len(b)+8*n)
	for i := n - 1; i >= 0; i-- {
		block := b[min(i*size, len(b)):min((i+1)*size, len(b))]
		le.PutUint32(body[4*i:], uint32(16+len(body)))
		body = append(le.AppendUint32(body, uint32(len(block))), block...)
	}
	head := []byte{2, 1, 1<<5 | 1<<4, 1}
	for _, n := range []int{len(b), size, 16 + len(body)} {
		head = le.AppendUint32(head, uint32(n))
	}
	return append(head, body...)
}
