package precomputed

import (
	"fmt"
	"math/bits"

	"github.com/wkwfs/wkwfs/volume"
)

// lattice is the grid of chunks of a scale. It numbers the chunks in two ways, each
// with just as many bits as the positions on an axis need.
type lattice struct {
	size volume.Vec // chunks on each axis
	bits [3]int     // of a position on each axis
}

// newLattice fails where the numbers of the chunks do not fit 64 bits.
func newLattice(size volume.Vec) (lattice, error) {
	l := lattice{size: size}
	sum := 0
	for axis := range 3 {
		l.bits[axis] = bits.Len(uint(size[axis] - 1))
		sum += l.bits[axis]
	}
	if sum > 64 {
		return l, fmt.Errorf("grid of %v chunks: expected at most 64 bits for the number of a chunk, found %d", size, sum)
	}
	return l, nil
}

// cells returns the number of chunks, as a float: it may be beyond 2^63.
func (l lattice) cells() float64 {
	return float64(l.size[0]) * float64(l.size[1]) * float64(l.size[2])
}

// morton returns the compressed Morton code of chunk c (volume.md, "Unsharded and
// sharded chunk storage"): the bits of x, y and z interleaved, x lowest, where an axis
// takes part only as long as it has bits.
func (l lattice) morton(c volume.Vec) uint64 {
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

// unmorton is the inverse of morton; false where no chunk has the code.
func (l lattice) unmorton(code uint64) (volume.Vec, bool) {
	var c volume.Vec
	for bit := range max(l.bits[0], l.bits[1], l.bits[2]) {
		for axis := range 3 {
			if bit < l.bits[axis] {
				c[axis] |= int(code&1) << bit
				code >>= 1
			}
		}
	}
	return c, code == 0 && c.In(l.size)
}

// raster numbers chunk c so that z is slowest: numbers rise as positions do.
func (l lattice) raster(c volume.Vec) uint64 {
	return (uint64(c[2])<<l.bits[1]|uint64(c[1]))<<l.bits[0] | uint64(c[0])
}
