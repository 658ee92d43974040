package wkw

import "github.com/wkwfs/wkwfs/volume"

// morton returns the index of block b in a cube file: the bits of z, y and x
// interleaved, x lowest: … z1 y1 x1 z0 y0 x0. Positions are ≥ 0 and below 2^21.
func morton(b volume.Vec) uint64 {
	return spread(uint64(b[0])) | spread(uint64(b[1]))<<1 | spread(uint64(b[2]))<<2
}

// unmorton is the inverse of morton.
func unmorton(n uint64) volume.Vec {
	return volume.Vec{int(gather(n)), int(gather(n >> 1)), int(gather(n >> 2))}
}

// spread moves bit i of n to bit 3i: both halves of the number are moved to their
// places, then the halves of each half, down to single bits.
func spread(n uint64) uint64 {
	n = (n | n<<32) & 0x001F_0000_0000_FFFF
	n = (n | n<<16) & 0x001F_0000_FF00_00FF
	n = (n | n<<8) & 0x100F_00F0_0F00_F00F
	n = (n | n<<4) & 0x10C3_0C30_C30C_30C3
	return (n | n<<2) & 0x1249_2492_4924_9249
}

// gather moves bit 3i of n to bit i, spread's steps backwards; other bits are dropped.
func gather(n uint64) uint64 {
	n &= 0x1249_2492_4924_9249
	n = (n | n>>2) & 0x10C3_0C30_C30C_30C3
	n = (n | n>>4) & 0x100F_00F0_0F00_F00F
	n = (n | n>>8) & 0x001F_0000_FF00_00FF
	n = (n | n>>16) & 0x001F_0000_0000_FFFF
	return (n | n>>32) & 0x1F_FFFF
}
