package wkw

import "github.com/wkwfs/wkwfs/volume"

// MortonIndex returns the index of block b in a cube file: its place in the order of the blocks ("High-level
// description"). b is in blocks, in the order x, y, z, from the start of the cube. The bits of the index are those of
// z, y and x interleaved, x lowest: … z1 y1 x1 z0 y0 x0. The positions must be ≥ 0 and below 2^21.
func MortonIndex(b volume.Vec) uint64 {
	return spread(uint64(b[0])) | spread(uint64(b[1]))<<1 | spread(uint64(b[2]))<<2
}

// MortonBlock returns the block with index n in a cube file. It is the inverse of MortonIndex. Bit 63 of n is ignored.
func MortonBlock(n uint64) volume.Vec {
	return volume.Vec{int(gather(n)), int(gather(n >> 1)), int(gather(n >> 2))}
}

// spread moves bit i of n to bit 3i. Each step moves half of the bits of each group, down to single bits.
func spread(n uint64) uint64 {
	n = (n | n<<32) & 0x001F_0000_0000_FFFF
	n = (n | n<<16) & 0x001F_0000_FF00_00FF
	n = (n | n<<8) & 0x100F_00F0_0F00_F00F
	n = (n | n<<4) & 0x10C3_0C30_C30C_30C3
	return (n | n<<2) & 0x1249_2492_4924_9249
}

// gather moves bit 3i of n to bit i, and drops all other bits. It is the inverse of spread.
func gather(n uint64) uint64 {
	n &= 0x1249_2492_4924_9249
	n = (n | n>>2) & 0x10C3_0C30_C30C_30C3
	n = (n | n>>4) & 0x100F_00F0_0F00_F00F
	n = (n | n>>8) & 0x001F_0000_FF00_00FF
	n = (n | n>>16) & 0x001F_0000_0000_FFFF
	return (n | n>>32) & 0x1F_FFFF
}
