package hdf5

import (
	"encoding/binary"
	"math/bits"
)

// lookup3 returns the checksum of metadata: hashlittle of Bob Jenkins, from 0.
func lookup3(b []byte) uint32 {
	x := 0xdeadbeef + uint32(len(b))
	y, z := x, x
	for ; len(b) > 12; b = b[12:] {
		x += binary.LittleEndian.Uint32(b)
		y += binary.LittleEndian.Uint32(b[4:])
		z += binary.LittleEndian.Uint32(b[8:])
		x, y, z = lookup3Mix(x, y, z)
	}
	if len(b) == 0 {
		return z
	}
	var last [12]byte
	copy(last[:], b)
	x += binary.LittleEndian.Uint32(last[:])
	y += binary.LittleEndian.Uint32(last[4:])
	z += binary.LittleEndian.Uint32(last[8:])
	return lookup3Final(x, y, z)
}

func lookup3Mix(x, y, z uint32) (_, _, _ uint32) {
	x = (x - z) ^ bits.RotateLeft32(z, 4)
	z += y
	y = (y - x) ^ bits.RotateLeft32(x, 6)
	x += z
	z = (z - y) ^ bits.RotateLeft32(y, 8)
	y += x
	x = (x - z) ^ bits.RotateLeft32(z, 16)
	z += y
	y = (y - x) ^ bits.RotateLeft32(x, 19)
	x += z
	z = (z - y) ^ bits.RotateLeft32(y, 4)
	y += x
	return x, y, z
}

func lookup3Final(x, y, z uint32) uint32 {
	z = (z ^ y) - bits.RotateLeft32(y, 14)
	x = (x ^ z) - bits.RotateLeft32(z, 11)
	y = (y ^ x) - bits.RotateLeft32(x, 25)
	z = (z ^ y) - bits.RotateLeft32(y, 16)
	x = (x ^ z) - bits.RotateLeft32(z, 4)
	y = (y ^ x) - bits.RotateLeft32(x, 14)
	return (z ^ y) - bits.RotateLeft32(y, 24)
}
