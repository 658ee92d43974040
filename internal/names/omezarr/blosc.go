package omezarr

import (
	"encoding/binary"
	"math"
)

// A chunk in Blosc's container has a header of 16 bytes:
//
//	0  version of the format, 2
//	1  version of LZ4, 1
//	2  flags
//	3  size of a value in bytes, in which programs count that read a part
//	4  decoded bytes of the chunk
//	8  decoded bytes of each of its blocks
//	12 bytes of the whole container
//
// The offset of each block in the container follows, 4 bytes each, then the blocks. A block has its length in 4 bytes,
// and that many bytes of LZ4. If the length is that of its decoded bytes, they are stored as they are. All numbers are
// little-endian. Flags are 0x20 for LZ4, and 0x10 for blocks that are not split by bytes of a value.
const (
	containerHead = 16
	perBlock      = 4 + 4 // offset and length
	flagsLZ4      = 0x30
)

// ContainerSize returns the length of a container of blocks whose stored lengths are those in sizes, in bytes.
func ContainerSize(sizes []int64) int64 {
	n := int64(containerHead)
	for _, size := range sizes {
		n += perBlock + size
	}
	return n
}

// LayContainer makes b, of ContainerSize bytes, a container of blocks of the given stored lengths. It returns the
// memory of each block, which the caller fills: an LZ4 block that decodes to n bytes, or n bytes as they are if its
// stored length is n. value is the size of a value in bytes. The decoded bytes of the chunk and len(b) are below 2^31.
func LayContainer(b []byte, n, value int, sizes []int64) (blocks [][]byte) {
	b[0], b[1], b[2], b[3] = 2, 1, flagsLZ4, byte(value)
	put(b[4:], n*len(sizes))
	put(b[8:], n)
	put(b[12:], len(b))
	at := containerHead + 4*len(sizes)
	for i, size := range sizes {
		put(b[containerHead+4*i:], at)
		put(b[at:], int(size))
		start := at + 4
		at = start + int(size)
		blocks = append(blocks, b[start:at:at])
	}
	return blocks
}

func put(b []byte, n int) { binary.LittleEndian.PutUint32(b, uint32(n)) }

// Zeros returns an LZ4 block that decodes to n zeros. n is at least 64. The block is shorter than n: one literal, a
// match of it up to the last five bytes, and these, which have to be literals.
func Zeros(n int) []byte {
	const match = 15 + 4 // the shortest match that has more bytes of length
	rest := n - 1 - 5 - match
	b := []byte{0x1F, 0, 1, 0}
	for ; rest >= math.MaxUint8; rest -= math.MaxUint8 {
		b = append(b, math.MaxUint8)
	}
	return append(b, byte(rest), 0x50, 0, 0, 0, 0, 0)
}
