package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

// lz4JavaFile is what LZ4BlockOutputStream of lz4-java 1.8.0 wrote in blocks of 64 bytes: three compressed, one stored,
// and the end. The text is 20 times abcdefgh, and then lz4JavaTail.
const (
	lz4JavaFile = "4c5a34426c6f636b201200000040000000bb81c1058f61626364656667680800205064656667684c5a34426c6f636b201200" +
		"000040000000bb81c1058f61626364656667680800205064656667684c5a34426c6f636b202e0000004000000033714b028f" +
		"6162636465666768080005f0113031323334353637383971776572747a75696f706173646667686a6b797863764c5a34426c" +
		"6f636b1003000000030000009a65660e626e6d4c5a34426c6f636b10000000000000000000000000"
	lz4JavaTail = "0123456789qwertzuiopasdfghjkyxcvbnm"
)

func lz4JavaSamples() []sample {
	stored, err := hex.DecodeString(lz4JavaFile)
	if err != nil {
		panic(err)
	}
	text := []byte(strings.Repeat("abcdefgh", 20) + lz4JavaTail)
	all := []sample{{name: "lz4-java", codec: LZ4Java{}, decoded: text, stored: stored}}
	for name, b := range contents() {
		for _, size := range []int{1 << 10, 1 << 16} {
			all = append(all, sample{name: fmt.Sprintf("lz4-java %s in blocks of %d", name, size), codec: LZ4Java{},
				decoded: b, stored: lz4JavaOf(b, size)})
		}
	}
	return all
}

// lz4JavaOf returns b in blocks of a size from 1 KiB.
func lz4JavaOf(b []byte, size int) []byte {
	var out []byte
	level := byte(0)
	for 1<<(10+level) < size {
		level++
	}
	for len(b) > 0 {
		part := b[:min(size, len(b))]
		b = b[len(part):]
		method, stored := byte(lz4JavaLZ4), lz4Block(part)
		if len(stored) >= len(part) {
			method, stored = lz4JavaStored, part
		}
		out = append(out, lz4JavaHeaderOf(method|level, len(stored), len(part),
			xxh32(part, lz4JavaSeed)&lz4JavaMask)...)
		out = append(out, stored...)
	}
	return append(out, lz4JavaHeaderOf(lz4JavaStored|level, 0, 0, 0)...)
}

func lz4JavaHeaderOf(token byte, stored, decoded int, sum uint32) []byte {
	b := append([]byte(lz4JavaMagic), token)
	b = binary.LittleEndian.AppendUint32(b, uint32(stored))
	b = binary.LittleEndian.AppendUint32(b, uint32(decoded))
	return binary.LittleEndian.AppendUint32(b, sum)
}

// TestLZ4JavaErrors changes one thing in the file of lz4-java, whose second block starts at byte 39.
func TestLZ4JavaErrors(t *testing.T) {
	good, err := hex.DecodeString(lz4JavaFile)
	if err != nil {
		t.Fatal(err)
	}
	put := func(at int, v uint32) func(b []byte) []byte {
		return func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[at:], v)
			return b
		}
	}
	for _, c := range []struct {
		name   string
		change func(b []byte) []byte
		want   string
	}{
		{"magic number", put(39, 0), `lz4 magic number at byte 39: expected LZ4Block, found "\x00\x00\x00\x00lock"`},
		{"method", func(b []byte) []byte { b[47] = 0x30; return b },
			"lz4 method at byte 47: expected 0x10 or 0x20, found 0x30"},
		{"method stored", func(b []byte) []byte { b[47] = 0x10; return b },
			"lz4 stored length of a block at byte 48: expected 64, found 18"},
		{"2^32-1 stored bytes", put(48, 1<<32-1), "lz4 data at byte 190: unexpected EOF"},
		{"more decoded bytes than a block may have", put(52, 1025),
			"lz4 decoded length of a block at byte 52: expected at most 1024, found 1025"},
		{"2^32-1 decoded bytes", put(52, 1<<32-1),
			"lz4 decoded length of a block at byte 52: expected at most 1024, found 4294967295"},
		{"more than the limit", put(52, 132), "lz4 data: expected at most 195 decoded bytes, found more"},
		{"one byte less", put(52, 63), "lz4 block at byte 60: lz4 block: expected 63 decoded bytes, found "},
		{"no decoded bytes", put(52, 0), "lz4 stored length of a block at byte 48: expected 0, found 18"},
		{"checksum", put(56, 7), "lz4 checksum at byte 56: expected 05c181bb, that of the 64 bytes, found 00000007"},
		{"all bits of the checksum", func(b []byte) []byte { b[59] |= 0x10; return b },
			"lz4 checksum at byte 56: expected 05c181bb"},
		{"checksum of the end", func(b []byte) []byte { b[len(b)-1] = 1; return b },
			"lz4 checksum at byte 186: expected 0, found 01000000"},
		{"no end", func(b []byte) []byte { return b[:len(b)-21] }, "lz4 data at byte 169: unexpected EOF"},
		{"two ends", func(b []byte) []byte { return append(b, b[len(b)-21:]...) },
			"lz4 data at byte 190: expected their end, found 21 more bytes"},
	} {
		_, err := decode(t, LZ4Java{}, make([]byte, 195), c.change(bytes.Clone(good)), 195)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: expected %q, found %v", c.name, c.want, err)
		}
	}
}

func FuzzLZ4Java(f *testing.F) { fuzz(f, LZ4Java{}, lz4JavaSamples()) }
