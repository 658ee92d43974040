package codec

import "slices"

// BloscBlock returns how many decoded bytes c-blosc puts into a block of a long chunk, if its user does not choose. It
// returns 0 if it does not know. The header of a chunk has the number that counts. compression is the name of the
// compression, such as "lz4", level is from 0 to 9, and valueSize is the bytes of a value (blosc.c, compute_blocksize).
func BloscBlock(compression string, level, valueSize int) int {
	const least, most = 64 << 10, 1 << 20 // of a block that is split
	if valueSize < 1 || valueSize > 255 || level < 0 || level > 9 {
		return 0
	}
	// The logarithm of its share of 32 KiB.
	shift := [10]int{-2, -1, 0, 1, 2, 2, 3, 3, 3, 3}[level]
	switch compression {
	case "lz4hc", "zlib", "zstd":
		if shift++; level == 9 {
			shift++
		}
	case "blosclz", "lz4", "snappy":
	default:
		return 0
	}
	n := 1 << (15 + shift)
	isSplit := slices.Contains([]string{"blosclz", "lz4", "lz4hc", "zlib"}, compression) &&
		valueSize <= bloscMaxSplit && n/valueSize >= bloscMinPart
	if level > 0 && isSplit {
		n = min(max(min(n, 256<<10)*valueSize, least), most)
	}
	return n / valueSize * valueSize
}
