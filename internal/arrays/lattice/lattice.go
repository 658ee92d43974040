// Package lattice has what stores of encoded chunks share. It numbers the chunks of a mag, keeps sets of their
// positions in little memory, and lists the chunks of a [Store] as the cubes of a mag. A [File] is an open file of
// chunks, and [Indexes] keeps parts of the indexes of shards.
//
// # Two kinds of shards
//
// Precomputed and Zarr both have shards: files of many encoded chunks, with an index. A chunk of Precomputed is a cube,
// and its shard is a part of a [Store]. A shard of Zarr is a cube, and its chunks are the blocks. They cannot be of one
// kind:
//
//   - A shard of Zarr has the chunks of a box, and its name is the position of the box. So a listing of the directory
//     says which cubes there are, and the attributes of a file say which version a cube has. If its chunks were cubes,
//     a listing would have to read the index of each shard, of up to 64 MiB, and a mag would usually have 32,768 times
//     as many cubes.
//   - A shard of Precomputed has the chunks of a hash. They need not be a box, and only the indexes say which chunks
//     there are.
//   - An index of Zarr has an entry for each chunk, and one checksum. It is read once to check it, and then in pages.
//     An index of Precomputed is a list of chunks in which each entry depends on the one before, and may be compressed.
//     It is read as a whole.
//
// # Listings
//
// Each store keeps its own positions, because each learns of changes in another way, and with other requests: of files
// in one directory the time of that directory tells, of shards of Precomputed the versions of all shards, and a tree of
// chunks has to be walked again.
package lattice

import (
	"fmt"
	"math/bits"

	"github.com/wkwfs/wkwfs/volume"
)

// Lattice is the grid of the chunks of a mag. A chunk has two numbers: a compressed Morton code and a raster
// number. Both use exactly the bits that positions on each axis need.
type Lattice struct {
	Size volume.Vec // in chunks
	bits [3]int     // of a position on each axis
}

// New returns the lattice of a size in chunks. It fails if the numbers of the chunks do not fit 64 bits.
func New(size volume.Vec) (Lattice, error) {
	l := Lattice{Size: size}
	sum := 0
	for axis := range 3 {
		l.bits[axis] = bits.Len(uint(size[axis] - 1))
		sum += l.bits[axis]
	}
	if sum > 64 {
		return l, fmt.Errorf("grid of %v chunks: expected at most 64 bits for the number of a chunk, found %d", size,
			sum)
	}
	return l, nil
}

// Chunks returns the number of chunks. It is a float because it may exceed 2^63.
func (l Lattice) Chunks() float64 {
	return float64(l.Size[0]) * float64(l.Size[1]) * float64(l.Size[2])
}

// Morton returns the compressed Morton code of chunk c (Precomputed: volume.md, "Unsharded and sharded chunk storage").
// It interleaves the bits of x, y and z, x lowest. An axis takes part only while it has bits left.
func (l Lattice) Morton(c volume.Vec) uint64 {
	var code uint64
	at := 0
	for bit := range max(l.bits[0], l.bits[1], l.bits[2]) {
		for axis := range 3 {
			if bit < l.bits[axis] {
				code |= uint64(c[axis]) >> bit & 1 << at
				at++
			}
		}
	}
	return code
}

// Unmorton returns the chunk with a Morton code. It returns false if there is none.
func (l Lattice) Unmorton(code uint64) (volume.Vec, bool) {
	var c volume.Vec
	for bit := range max(l.bits[0], l.bits[1], l.bits[2]) {
		for axis := range 3 {
			if bit < l.bits[axis] {
				c[axis] |= int(code&1) << bit
				code >>= 1
			}
		}
	}
	return c, code == 0 && c.In(l.Size)
}

// Raster returns the raster number of chunk c: x is in the lowest bits, z in the highest.
func (l Lattice) Raster(c volume.Vec) uint64 {
	return (uint64(c[2])<<l.bits[1]|uint64(c[1]))<<l.bits[0] | uint64(c[0])
}

// Unraster returns the chunk with a raster number.
func (l Lattice) Unraster(n uint64) volume.Vec {
	low := func(n uint64, bits int) int { return int(n & (1<<bits - 1)) }
	return volume.Vec{low(n, l.bits[0]), low(n>>l.bits[0], l.bits[1]), int(n >> l.bits[0] >> l.bits[1])}
}

// level lists one level of all chunks, as [Positions.Level] does. If there are more than limit, the error is a
// [TooManyError].
func (l Lattice) level(limit int, zy []int) ([]int, bool, error) {
	if l.Chunks() > float64(limit) {
		return nil, false, TooManyError{Limit: limit}
	}
	for i, n := range zy {
		if n < 0 || n >= l.Size[2-i] {
			return nil, false, nil
		}
	}
	level := make([]int, l.Size[2-len(zy)])
	for i := range level {
		level[i] = i
	}
	return level, true, nil
}
