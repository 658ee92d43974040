package codec

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"testing"
)

// crc32cOf is the sum by its definition, bit by bit (RFC 3720, B.4).
func crc32cOf(b []byte) uint32 {
	sum := ^uint32(0)
	for _, v := range b {
		sum ^= uint32(v)
		for range 8 {
			sum = sum>>1 ^ 0x82f63b78&-(sum&1)
		}
	}
	return ^sum
}

func checksumSamples() []sample {
	var all []sample
	for name, b := range contents() {
		for _, c := range []struct {
			after, before Codec
			sum           uint32
		}{
			{CRC32C{}, CRC32C{AtStart: true}, crc32cOf(b)},
			{CRC32{AtEnd: true}, CRC32{}, crc32.ChecksumIEEE(b)},
			{Adler32{AtEnd: true}, Adler32{}, adler32.Checksum(b)},
			{Fletcher32{}, nil, fletcher32Of(b)},
		} {
			sum := binary.LittleEndian.AppendUint32(nil, c.sum)
			title := c.after.String() + " " + name
			all = append(all, sample{name: title, codec: c.after, decoded: b, stored: append(bytes.Clone(b), sum...),
				pieces: c.sum == 0})
			if c.before != nil {
				all = append(all, sample{name: title + " at start", codec: c.before, decoded: b,
					stored: append(sum, b...), pieces: c.sum == 0})
			}
		}
	}
	return all
}

// fletcher32Of is the sum by its definition: sums modulo 2^16 - 1, of which 0 is written as 2^16 - 1 unless all words
// are 0.
func fletcher32Of(b []byte) uint32 {
	var sum, sums uint64
	for i := 0; i < len(b); i += 2 {
		word := uint64(b[i]) << 8
		if i+1 < len(b) {
			word |= uint64(b[i+1])
		}
		sum += word
		sums = (sums + sum) % (65535 << 16)
	}
	modulo := func(v uint64) uint32 {
		if v > 0 && v%65535 == 0 {
			return 65535
		}
		return uint32(v % 65535)
	}
	return modulo(sums)<<16 | modulo(sum)
}

// numcodecsFletcher32 is a chunk of HDF5 in the tests of numcodecs: ten values of 64 bits.
const numcodecsFletcher32 = "w\x07\x00\x00\x00\x00\x00\x00\x85\xf6\xff\xff\xff\xff\xff\xff" +
	"i\x07\x00\x00\x00\x00\x00\x00\x94\xf6\xff\xff\xff\xff\xff\xff" +
	"\x88\t\x00\x00\x00\x00\x00\x00i\x03\x00\x00\x00\x00\x00\x00" +
	"\x93\xfd\xff\xff\xff\xff\xff\xff\xc3\xfc\xff\xff\xff\xff\xff\xff" +
	"'\x02\x00\x00\x00\x00\x00\x00\xba\xf7\xff\xff\xff\xff\xff\xff" +
	"\xfd%\x86d"

func TestChecksumError(t *testing.T) {
	for _, c := range []struct {
		codec  Codec
		stored string
		want   string
	}{
		{CRC32C{}, "123456789\x83\x92\x06\xe3", ""}, // the check value of CRC-32C
		{CRC32C{}, "123456789\x83\x92\x06\xe4",
			"crc32c checksum at byte 9: expected e3069283, that of the 9 bytes, found e4069283"},
		{CRC32C{AtStart: true}, "\x83\x92\x06\xe3123456788",
			"crc32c checksum at byte 0: expected 116d1180, that of the 9 bytes, found e3069283"},
		{CRC32{}, "\x26\x39\xf4\xcb123456789", ""},
		{CRC32{AtEnd: true}, "123456789\x26\x39\xf4\xcb", ""},
		{Adler32{}, "\x98\x03\xe6\x11Wikipedia", ""},
		{Fletcher32{}, "abcde\xc7\x29\xf0\x4f", ""}, // 6162 + 6364 + 6500 = 129c6, and 6162 + c4c6 + 129c6 = 24fee
		{Fletcher32{}, numcodecsFletcher32, ""},
		{CRC32C{}, "123", "crc32c data at byte 3: unexpected EOF"},
	} {
		text := ""
		if _, err := c.codec.Decode(nil, []byte(c.stored), 100); err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%v of %q: expected error %q, found %q", c.codec, c.stored, c.want, text)
		}
	}
}

func FuzzCRC32C(f *testing.F)     { fuzz(f, CRC32C{}, checksumSamples()) }
func FuzzCRC32(f *testing.F)      { fuzz(f, CRC32{}, checksumSamples()) }
func FuzzAdler32(f *testing.F)    { fuzz(f, Adler32{}, checksumSamples()) }
func FuzzFletcher32(f *testing.F) { fuzz(f, Fletcher32{}, checksumSamples()) }
