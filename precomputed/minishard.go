package precomputed

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// entry is a chunk in a minishard index.
type entry struct {
	id    uint64 // the chunk's number
	begin int64  // in bytes from the shard file's begin
	size  int64  // bytes
}

const (
	entryBytes = 24 // in the minishard index: three words of 64 bits

	// maxIndexBytes is the longest minishard index that is read: of 2.8 million
	// chunks. Writers aim at some thousand.
	maxIndexBytes = 64 << 20
)

// minishardIndex lists the chunks of a minishard by rising number.
type minishardIndex []entry

// parseMinishard reads a minishard index (sharded.md, "Minishard index format"): the
// numbers of n chunks, each as the difference to the one before; then where they begin,
// in bytes after the end of the chunk before or, for the first, after base, where the
// shard index ends; then their sizes.
func parseMinishard(b []byte, base int64) (minishardIndex, *fault) {
	if len(b)%entryBytes != 0 {
		return nil, &fault{0, fmt.Sprintf("a multiple of %d bytes", entryBytes), fmt.Sprint(len(b))}
	}
	n := len(b) / entryBytes
	word := func(row, i int) uint64 { return binary.LittleEndian.Uint64(b[8*(row*n+i):]) }
	index := make(minishardIndex, n)
	id, end := uint64(0), uint64(base)
	for i := range index {
		var carry uint64
		step := word(0, i)
		if id, carry = bits.Add64(id, step, 0); carry != 0 || i > 0 && step == 0 {
			return nil, &fault{8 * i, "rising numbers of chunks", fmt.Sprintf("a step of %d", step)}
		}
		gap, size := word(1, i), word(2, i)
		if gap > math.MaxInt64-end {
			return nil, &fault{8 * (n + i), "a begin below 2^63", fmt.Sprintf("%d after byte %d", gap, end)}
		}
		begin := end + gap
		if size > math.MaxInt64-begin {
			return nil, &fault{8 * (2*n + i), "an end below 2^63", fmt.Sprintf("%d bytes from byte %d", size, begin)}
		}
		end = begin + size
		index[i] = entry{id, int64(begin), int64(size)}
	}
	return index, nil
}

// find returns the entry of the chunk with the number.
func (m minishardIndex) find(id uint64) (entry, bool) {
	i, found := slices.BinarySearchFunc(m, id, func(e entry, id uint64) int { return cmp.Compare(e.id, id) })
	if !found {
		return entry{}, false
	}
	return m[i], true
}

// fault is what is wrong with a piece of data, and where in it.
type fault struct {
	offset          int // bytes
	expected, found string
}
