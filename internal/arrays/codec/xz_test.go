package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

func xzSamples() []sample {
	var all []sample
	for name, b := range contents() {
		for check, size := range map[byte]int64{xz.None: 1 << 40, xz.CRC32: 1 << 40, xz.CRC64: 50_000,
			xz.SHA256: 3000} {
			stored := xzOf(b, xz.WriterConfig{CheckSum: check, NoCheckSum: check == xz.None, BlockSize: size})
			all = append(all, sample{name: "xz " + name, codec: XZ{}, decoded: b, stored: stored,
				unverified: check == xz.None})
		}
	}
	b := voxels(5000)
	two := append(xzOf(b[:2000], xz.WriterConfig{}), make([]byte, 8)...)
	two = append(two, xzOf(b[2000:], xz.WriterConfig{})...)
	return append(all, sample{name: "xz streams", codec: XZ{}, decoded: b, stored: two, pieces: true})
}

func lzmaSamples() []sample {
	var all []sample
	for name, b := range contents() {
		if len(b) == 0 {
			continue // the library writes nothing that it reads
		}
		for _, config := range []lzma.WriterConfig{{EOSMarker: true}, {SizeInHeader: true, Size: int64(len(b))}} {
			var out bytes.Buffer
			w, err := config.NewWriter(&out)
			all = append(all, sample{name: "lzma " + name, codec: LZMA{}, decoded: b, stored: written(w, err, b, &out),
				unverified: true})
		}
	}
	return all
}

func xzOf(b []byte, config xz.WriterConfig) []byte {
	var out bytes.Buffer
	w, err := config.NewWriter(&out)
	return written(w, err, b, &out)
}

// Streams that liblzma wrote, with its filters by name.
const (
	xzDelta4 = "fd377a585a000004e6d6b4460201030103210110a22a1215e0018f00145d007400bc00004360fb4845a9245f6be61b8c1ed80000a10d82" +
		"58389cc34300013090030000008e5b9c04b1c467fb020000000004595a"
	xzDelta4and8 = "fd377a585a000004e6d6b446030203010303010721011000e8a0fe3de0018f001a5d007400bc000043628e4147fc280b4d194ef612f06b" +
		"a15822440000000000a10d8258389cc34300013a9003000000e87807a5b1c467fb020000000004595a"
	xzX86 = "fd377a585a000004e6d6b44602010400210110008b216f49e0018f00855d007400bc00093382e6503fbbdf605f718239fd988186c18e52" +
		"4ecfe02a6a3dc0601182fe24bfc7443793a74093224eed3aebc6d9bc2931eb9e26c5dafceadb5775948062628e5515e1b2c4254b82229e" +
		"af4aba93472c7bc0002de35c533b0b36cd41c28d2349b3f1b27bd7e843aeaa4edc2d9abd79050fc6c8290fd0fcff5bd7020033e23ab800" +
		"000000a10d8258389cc3430001a10190030000db607393b1c467fb020000000004595a"
)

// TestXZFilters decodes what liblzma wrote with filters: the values 1000, 1005, 1010 … 1495 as 32 bits, little-endian.
func TestXZFilters(t *testing.T) {
	var want []byte
	for v := uint32(1000); v < 1500; v += 5 {
		want = binary.LittleEndian.AppendUint32(want, v)
	}
	for _, c := range []struct{ name, stored, err string }{
		{"delta 4", xzDelta4, ""},
		{"delta 4, delta 8", xzDelta4and8, ""},
		{"x86", xzX86,
			"unsupported xz filter at byte 14: expected delta filters, and LZMA2 as the last, found filter 4"},
	} {
		src, err := hex.DecodeString(c.stored)
		if err != nil {
			t.Fatal(err)
		}
		b, err := decode(t, XZ{}, make([]byte, 400), src, 400)
		if text := errorText(err); text != c.err || err == nil && !bytes.Equal(b, want) {
			t.Errorf("%s: expected error %q, found %q, %x", c.name, c.err, text, b)
		}
	}
}

// TestXZErrors changes one thing in a stream, and mends the checksum of what it changed.
func TestXZErrors(t *testing.T) {
	good := xzOf(voxels(3000), xz.WriterConfig{})
	for _, c := range []struct {
		name   string
		change func(b []byte)
		want   string
	}{
		{"nothing", func([]byte) {}, ""},
		{"magic number", func(b []byte) { b[0]++ },
			"xz magic number at byte 0: expected fd377a585a00, found fe377a585a00"},
		{"reserved checksum", func(b []byte) { b[7] = 2; mend(b[6:8], b[8:]) },
			"unsupported xz stream flags at byte 6: expected 0000, 0001, 0004 or 000a, found 0002"},
		{"header checksum", func(b []byte) { b[8]++ }, "xz checksum of the stream header at byte 8"},
		{"block flags", func(b []byte) { b[13] |= 4; mend(b[12:20], b[20:]) }, "unsupported xz block flags at byte 13"},
		{"dictionary of 4 GiB", func(b []byte) { b[16] = 40; mend(b[12:20], b[20:]) }, ""},
		{"impossible dictionary", func(b []byte) { b[16] = 41; mend(b[12:20], b[20:]) },
			"xz dictionary at byte 16: expected 0 to 40, found 41"},
		{"block checksum", func(b []byte) { b[20]++ }, "xz checksum of the block header at byte 20"},
		{"chunk of 2 MiB", func(b []byte) { b[24] |= 31 }, "at most 3000 decoded bytes"},
		{"control byte", func(b []byte) { b[24] = 3 },
			"xz control byte of LZMA2 at byte 24: expected 0, 1, 2 or 128 or more, found 3"},
		{"footer", func(b []byte) { b[len(b)-1]++ }, "xz footer at byte "},
		{"data", func(b []byte) { b[100]++ }, "xz "},
	} {
		b := bytes.Clone(good)
		c.change(b)
		var err error
		n := taken(func() { _, err = XZ{}.Decode(nil, b, 3000) })
		if text := errorText(err); (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: expected error %q, found %q", c.name, c.want, text)
		}
		if n > 1<<20 {
			t.Errorf("%s: %d bytes of memory", c.name, n)
		}
	}
}

// mend writes the checksum of b.
func mend(b, sum []byte) { binary.LittleEndian.PutUint32(sum, crc32.ChecksumIEEE(b)) }

// TestLZMAClaims decodes a header that claims a dictionary of 4 GiB, and one of 2^62 bytes.
func TestLZMAClaims(t *testing.T) {
	b := lzmaSamples()[0]
	binary.LittleEndian.PutUint32(b.stored[1:], 1<<32-1)
	if n := taken(func() { b.expect(t, nil, len(b.decoded)) }); n > 2<<20+4*len(b.decoded) {
		t.Errorf("%d bytes of memory for %d", n, len(b.decoded))
	}
	binary.LittleEndian.PutUint64(b.stored[5:], 1<<62)
	if _, err := (LZMA{}).Decode(nil, b.stored, 100); err == nil ||
		!strings.Contains(err.Error(), "lzma length at byte 5") {
		t.Error("2^62 bytes:", err)
	}
}

func FuzzXZ(f *testing.F)   { fuzz(f, XZ{}, xzSamples()) }
func FuzzLZMA(f *testing.F) { fuzz(f, LZMA{}, lzmaSamples()) }
