package codec

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

func gzipSamples() []sample {
	var all []sample
	for name, b := range contents() {
		for _, level := range []int{gzip.NoCompression, gzip.DefaultCompression} {
			all = append(all, sample{name: "gzip " + name, codec: Gzip{}, decoded: b, stored: gzipped(b, level)})
		}
	}
	b := voxels(5000)
	two := append(gzipped(b[:3000], 1), gzipped(b[3000:], 9)...)
	return append(all, sample{name: "gzip members", codec: Gzip{}, decoded: b, stored: two, pieces: true})
}

func zlibSamples() []sample {
	var all []sample
	for name, b := range contents() {
		all = append(all, sample{name: "zlib " + name, codec: Zlib{}, decoded: b, stored: zlibbed(b)})
	}
	return all
}

func zstdSamples() []sample {
	var all []sample
	for name, b := range contents() {
		for _, checksum := range []bool{false, true} {
			sized := zstded(b, checksum, true)
			all = append(all, sample{name: "zstd " + name, codec: Zstd{}, decoded: b, stored: sized,
				unverified: !checksum})
			all = append(all, sample{name: "zstd without size " + name, codec: Zstd{}, decoded: b,
				stored: zstded(b, checksum, false), unverified: !checksum})
		}
	}
	b := voxels(5000)
	two := append(zstded(b[:3000], true, true), zstded(b[3000:], true, false)...)
	return append(all, sample{name: "zstd frames", codec: Zstd{}, decoded: b, stored: two, pieces: true})
}

func chainSamples() []sample {
	b := voxels(5000)
	all := []sample{
		{name: "raw", codec: Chain{}, decoded: b, stored: b, unverified: true, pieces: true},
		{name: "chain of one", codec: Chain{Gzip{}}, decoded: b, stored: gzipped(b, 6)},
		{name: "gzip, crc32c", codec: Chain{Gzip{}, CRC32C{}}, decoded: b, stored: withCRC32C(gzipped(b, 6))},
		{name: "crc32c, gzip", codec: Chain{CRC32C{}, Gzip{}}, decoded: b, stored: gzipped(withCRC32C(b), 6)},
		{name: "crc32c, zlib, crc32c, zstd", codec: Chain{CRC32C{}, Zlib{}, CRC32C{}, Zstd{}}, decoded: b,
			stored: zstded(withCRC32C(zlibbed(withCRC32C(b))), false, true)},
	}
	return all
}

func gzipped(b []byte, level int) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, level)
	return written(w, err, b, &out)
}

func zlibbed(b []byte) []byte {
	var out bytes.Buffer
	return written(zlib.NewWriter(&out), nil, b, &out)
}

// zstded returns b as a frame, with or without its checksum and the length of its content.
func zstded(b []byte, checksum, size bool) []byte {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderCRC(checksum), zstd.WithZeroFrames(true))
	if size && err == nil {
		defer w.Close()
		return w.EncodeAll(b, nil)
	}
	if err == nil && len(b) > 1 { // a frame that is written in one piece has the length
		_, err = w.Write(b[:1])
		b = b[1:]
		if err == nil {
			err = w.Flush()
		}
	}
	return written(w, err, b, &out)
}

// written returns what w wrote to out after it got b. err is the error that came with w.
func written(w io.WriteCloser, err error, b []byte, out *bytes.Buffer) []byte {
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err)
	}
	return out.Bytes()
}

// TestBombs decodes little data that expands to much, with small limits.
func TestBombs(t *testing.T) {
	big := make([]byte, 8<<20)
	zipped := gzipped(big, 9)
	for _, s := range []sample{
		{codec: Gzip{}, stored: zipped},
		{codec: Zlib{}, stored: zlibbed(big)},
		{codec: Zstd{}, stored: zstded(big, false, true)},
		{codec: Zstd{}, stored: zstded(big, false, false)},
		{codec: XZ{}, stored: xzOf(big, xz.WriterConfig{})},
		{codec: Blosc{}, stored: chunkOf{bloscZstd << 5, 1, 1 << 20}.chunk(big)},
		{codec: LZ4Java{}, stored: lz4JavaOf(big, 1<<20)},
		{codec: Chain{CRC32C{}, Gzip{}}, stored: zipped},
	} {
		for _, limit := range []int{0, 1000, 1 << 20} {
			var err error
			n := taken(func() { _, err = s.codec.Decode(nil, s.stored, limit) })
			if err == nil {
				t.Errorf("%v: 8 MiB with a limit of %d", s.codec, limit)
			}
			if most := 9*limit/4 + 2<<20; n > most {
				t.Errorf("%v: %d bytes of memory for a limit of %d", s.codec, n, limit)
			}
		}
	}
}

// TestZstdClaims decodes frames that claim a large window or content: magic number, descriptor, window or length.
func TestZstdClaims(t *testing.T) {
	for _, c := range []struct {
		name, stored string
		limit        int
		want         string // of the error; empty if the frame has the byte x
	}{
		{"window of 2 TiB", "\x28\xb5\x2f\xfd\x00\xf8\x09\x00\x00x", 100, ""},
		{"window of 3.75 TiB", "\x28\xb5\x2f\xfd\x00\xff\x09\x00\x00x", 100, ""},
		{"length of 2^63", "\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x00\x00\x00\x00\x80\x09\x00\x00x", 100,
			"at most 100 decoded bytes"},
		{"length of 2^64-1", "\x28\xb5\x2f\xfd\xe0\xff\xff\xff\xff\xff\xff\xff\xff\x09\x00\x00x", 100,
			"at most 100 decoded bytes"},
		{"length of 2", "\x28\xb5\x2f\xfd\x20\x02\x09\x00\x00x", 100, "zstd data"},
		{"a dictionary", "\x28\xb5\x2f\xfd\x21\x07\x01\x09\x00\x00x", 100, "dictionary"},
		{"nothing", "", 100, "zstd data at byte 0: unexpected EOF"},
		{"another magic number", "\x28\xb5\x2f\xfe\x20\x01\x09\x00\x00x", 100, "zstd data"},
	} {
		var b []byte
		var err error
		n := taken(func() { b, err = Zstd{}.Decode(nil, []byte(c.stored), c.limit) })
		switch {
		case c.want == "" && (err != nil || string(b) != "x"):
			t.Errorf("%s: expected x, found %q, %v", c.name, b, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: expected %q, found %v", c.name, c.want, err)
		case n > 2<<20:
			t.Errorf("%s: %d bytes of memory", c.name, n)
		}
	}
}

func FuzzGzip(f *testing.F) { fuzz(f, Gzip{}, gzipSamples()) }
func FuzzZlib(f *testing.F) { fuzz(f, Zlib{}, zlibSamples()) }
func FuzzZstd(f *testing.F) { fuzz(f, Zstd{}, zstdSamples()) }

// fuzz decodes anything with c, starting from short samples. Memory and time must be in proportion to the limit, which
// is less than 1 MiB.
func fuzz(f *testing.F, c Codec, samples []sample) {
	for i, s := range samples {
		if len(s.stored) < 3000 && (i < 40 || i%8 == 0) {
			f.Add(s.stored, uint32(len(s.decoded)+i%2*100), i%3 > 0)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, limit uint32, given bool) {
		var dst []byte
		n := int(limit % (1 << 20))
		if given {
			dst = make([]byte, n)
		}
		var b []byte
		var err error
		start := time.Now()
		if n := taken(func() { b, err = decode(t, c, dst, src, n) }); n > 24<<20 {
			t.Errorf("%d bytes of memory", n)
		}
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%v for %d bytes", d, len(src))
		}
		if err == nil {
			again, err := decode(t, c, make([]byte, len(b)), src, len(b))
			if err != nil || !bytes.Equal(again, b) {
				t.Fatalf("%v: %d bytes with a limit of %d; with the limit %d: %d bytes, %v", c, len(b), n, len(b),
					len(again), err)
			}
		}
	})
}

func withCRC32C(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(bytes.Clone(b), crc32cOf(b))
}
