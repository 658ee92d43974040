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
	id     uint64 // Morton code of the chunk
	offset int64  // in the shard file, in bytes
	size   int64  // in bytes
}

const (
	entryBytes = 24 // of an entry in the file: three 64-bit words

	// maxIndexBytes limits a minishard index to 700,000 chunks. Writers aim at some thousand.
	maxIndexBytes = 16 << 20

	// usualIndexBytes is the limit of usual ones.
	usualIndexBytes = 1 << 20
)

// minishardIndex lists the chunks of a minishard, with rising IDs.
type minishardIndex []entry

// parseMinishard parses a minishard index (sharded.md, "Minishard index format"). It has three rows of n words:
//
//	the ID of each chunk, minus the ID of the chunk before
//	its offset, minus the end of the chunk before; for the first chunk, minus base
//	its size
//
// base is the offset of the end of the shard index in the file. If the index is invalid, parseMinishard returns a
// fault.
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
			return nil, &fault{8 * i, "rising chunk IDs", fmt.Sprintf("an increment of %d", step)}
		}
		gap, size := word(1, i), word(2, i)
		if gap > math.MaxInt64-end {
			return nil, &fault{8 * (n + i), "an offset below 2^63", fmt.Sprintf("%d after byte %d", gap, end)}
		}
		offset := end + gap
		if size > math.MaxInt64-offset {
			return nil, &fault{8 * (2*n + i), "an end below 2^63", fmt.Sprintf("%d bytes from byte %d", size, offset)}
		}
		end = offset + size
		index[i] = entry{id, int64(offset), int64(size)}
	}
	return index, nil
}

// find returns the entry of a chunk. It returns false if the index does not have it.
func (m minishardIndex) find(id uint64) (entry, bool) {
	i, found := slices.BinarySearchFunc(m, id, func(e entry, id uint64) int { return cmp.Compare(e.id, id) })
	if !found {
		return entry{}, false
	}
	return m[i], true
}

// fault describes the first invalid value of an index.
type fault struct {
	offset          int // in the index, in bytes
	expected, found string
}
