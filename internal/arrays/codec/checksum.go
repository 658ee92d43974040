package codec

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"hash/crc32"
)

// The codecs of checksums have the decoded bytes and a checksum of 4 bytes, little-endian.
type (
	// CRC32C has a CRC-32C (RFC 3720, B.4) after the bytes or before them. Zarr v3 and the index of shards have it
	// after them.
	CRC32C struct{ AtStart bool }

	// CRC32 has a CRC-32 of IEEE 802.3 before the bytes or after them. numcodecs has it before them unless it says
	// otherwise.
	CRC32 struct{ AtEnd bool }

	// Adler32 has a checksum of RFC 1950 before the bytes or after them. numcodecs has it before them unless it says
	// otherwise.
	Adler32 struct{ AtEnd bool }

	// Fletcher32 has the checksum of HDF5 after the bytes.
	Fletcher32 struct{}
)

const checksumBytes = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (c CRC32C) verify(src []byte) ([]byte, error) {
	return verify(c, src, c.AtStart, func(b []byte) uint32 { return crc32.Checksum(b, castagnoli) })
}

func (c CRC32) verify(src []byte) ([]byte, error) {
	return verify(c, src, !c.AtEnd, crc32.ChecksumIEEE)
}

func (c Adler32) verify(src []byte) ([]byte, error) {
	return verify(c, src, !c.AtEnd, adler32.Checksum)
}

func (c Fletcher32) verify(src []byte) ([]byte, error) {
	return verify(c, src, false, fletcher32)
}

// Decode implements [Codec].
func (c CRC32C) Decode(dst, src []byte, limit int) ([]byte, error) {
	return decodeChecksum(c, dst, src, limit)
}

// Decode implements [Codec].
func (c CRC32) Decode(dst, src []byte, limit int) ([]byte, error) {
	return decodeChecksum(c, dst, src, limit)
}

// Decode implements [Codec].
func (c Adler32) Decode(dst, src []byte, limit int) ([]byte, error) {
	return decodeChecksum(c, dst, src, limit)
}

// Decode implements [Codec].
func (c Fletcher32) Decode(dst, src []byte, limit int) ([]byte, error) {
	return decodeChecksum(c, dst, src, limit)
}

// Bound implements [Codec].
func (CRC32C) Bound(n int) int { return n + checksumBytes }

// Bound implements [Codec].
func (CRC32) Bound(n int) int { return n + checksumBytes }

// Bound implements [Codec].
func (Adler32) Bound(n int) int { return n + checksumBytes }

// Bound implements [Codec].
func (Fletcher32) Bound(n int) int { return n + checksumBytes }

func (CRC32C) String() string     { return "crc32c" }
func (CRC32) String() string      { return "crc32" }
func (Adler32) String() string    { return "adler32" }
func (Fletcher32) String() string { return "fletcher32" }

// verify returns src without its checksum, which is at its start or at its end.
func verify(c Codec, src []byte, atStart bool, sum func([]byte) uint32) ([]byte, error) {
	n := len(src) - checksumBytes
	if n < 0 {
		return nil, endsEarly(c, src)
	}
	at, b := n, src[:n]
	if atStart {
		at, b = 0, src[checksumBytes:]
	}
	if stored, computed := binary.LittleEndian.Uint32(src[at:]), sum(b); stored != computed {
		return nil, invalid(c, "checksum", at, fmt.Sprintf("%08x, that of the %d bytes", computed, n),
			fmt.Sprintf("%08x", stored))
	}
	return b, nil
}

func decodeChecksum(c checksum, dst, src []byte, limit int) ([]byte, error) {
	b, err := c.verify(src)
	if err != nil {
		return nil, err
	}
	if len(b) > limit {
		return nil, tooLong(c, limit)
	}
	dst = room(dst, limit)
	return dst[:copy(dst, b)], nil
}

// fletcher32 returns the checksum of H5_checksum_fletcher32: that of Fletcher, of big-endian words of 16 bits. The last
// one may lack a byte.
func fletcher32(b []byte) uint32 {
	fold := func(v uint32) uint32 { return v&0xffff + v>>16 }
	var sum, sums uint32
	for len(b) > 0 {
		part := b[:min(len(b), 720)] // more could overflow
		b = b[len(part):]
		for ; len(part) > 1; part = part[2:] {
			sum += uint32(binary.BigEndian.Uint16(part))
			sums += sum
		}
		sum, sums = fold(sum), fold(sums)
		if len(part) == 1 {
			sum += uint32(part[0]) << 8
			sums += sum
			sum, sums = fold(sum), fold(sums)
		}
	}
	return fold(sums)<<16 | fold(sum)
}
