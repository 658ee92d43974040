package omezarr

import (
	"encoding/binary"
	"slices"
)

// A chunk in Blosc's container has a header of 16 bytes:
//
//	0  version of the format, 2
//	1  version of LZ4, 1
//	2  flags
//	3  size of a value in bytes, in which programs count that read a part
//	4  decoded bytes
//	8  bytes of a block: the chunk is one block
//	12 bytes of the whole container
//
// The numbers are little-endian. Flags are 0x20 for LZ4, 0x10 for blocks that are not split by bytes of a value, and 0x02
// for bytes that are stored as they are. With LZ4, the offset of the block and its length follow.
const (
	storedHead = 16
	lz4Head    = 24

	flagsLZ4    = 0x30
	flagsStored = 0x32
)

// StoredSize returns the length of a chunk of n decoded bytes without compression.
func StoredSize(n int64) int64 { return storedHead + n }

// StoredHead returns the header of a chunk of n decoded bytes, which follow as they are. n is below 2^31, and value is the
// size of a value in bytes.
func StoredHead(n, value int) []byte { return head(flagsStored, value, n, storedHead+n) }

// LZ4Size returns the length of a chunk whose n decoded bytes have the length compressed as an LZ4 block. ok is false if
// the container cannot have the block: readers take a block of n bytes for one that is stored as it is.
func LZ4Size(n, compressed int64) (size int64, ok bool) { return lz4Head + compressed, compressed != n }

// AppendLZ4Head appends the header of a chunk of n decoded bytes, as an LZ4 block of the length compressed, to b. n is
// below 2^31 and differs from compressed. value is the size of a value in bytes.
func AppendLZ4Head(b []byte, n, value, compressed int) []byte {
	b = append(b, head(flagsLZ4, value, n, lz4Head+compressed)...)
	b = binary.LittleEndian.AppendUint32(b, lz4Head-4) // offset of the length of the block
	return binary.LittleEndian.AppendUint32(b, uint32(compressed))
}

func head(flags byte, value, n, size int) []byte {
	b := slices.Grow([]byte{2, 1, flags, byte(value)}, lz4Head)
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	return binary.LittleEndian.AppendUint32(b, uint32(size))
}
