// Package compresso decodes compresso, an encoding of label volumes in Neuroglancer
// Precomputed.
//
// A chunk is stored as the boundary between its labels, one bit a voxel, and little
// else: what lies between boundaries is connected and has one label; most voxels of the
// boundary have the label of a neighbour. A chunk consists of
//
//	header     36 bytes
//	ids        a label for every connected component of voxels off the boundary
//	values     bitmaps of boundaries in small windows, each different one once
//	locations  codes and labels for the voxels of the boundary that need one
//	windows    which value each window has, run-length encoded
//	index      version 1 only: where each slice begins; not needed to decode them all
//
// The format is that of the library seung-lab/compresso, versions 0 and 1 (not that of
// the original publication), described in its README; everything is little-endian.
// The package keeps no state: its functions may be called at the same time.
package compresso

import (
	"fmt"
	"math"
	"math/bits"
)

// Decode decodes one chunk of one channel into dst.
//
// size is the chunk's extent in voxels, in the order x, y, z, and bytesPerValue is 1,
// 2, 4 or 8 (uint8 to uint64); both must be what the chunk's own header says. dst is
// filled in Fortran order, x fastest, little-endian; it must be exactly
// size·bytesPerValue long. Its content is undefined after an error. data is only
// read, and not retained. Data that breaks the format gives a [*FormatError].
//
// The memory that it takes is in proportion to dst, whatever data says: a byte a voxel
// and 16 bytes for each run of voxels between boundaries.
func Decode(data []byte, size [3]int, bytesPerValue int, dst []byte) error {
	switch bytesPerValue {
	case 1, 2, 4, 8:
	default:
		return fmt.Errorf("compresso: %d bytes a value: expected 1, 2, 4 or 8", bytesPerValue)
	}
	if min(size[0], size[1], size[2]) < 1 || max(size[0], size[1], size[2]) > math.MaxUint16 {
		return fmt.Errorf("compresso: %v voxels: expected 1 to %d on each axis", size, math.MaxUint16)
	}
	// Three numbers of 16 bits and one of 4 have a product of 52 bits.
	if voxels := size[0] * size[1] * size[2]; len(dst) != voxels*bytesPerValue {
		return fmt.Errorf("compresso: %d bytes for %v voxels of %d bytes", len(dst), size, bytesPerValue)
	}
	c, err := parse(data)
	if err != nil {
		return err
	}
	if err := c.check(size, bytesPerValue); err != nil {
		return err
	}
	c.dst = dst
	if err := c.decodeWindows(); err != nil {
		return err
	}
	if err := c.labelComponents(); err != nil {
		return err
	}
	return c.labelBoundary()
}

// chunk is a chunk in its parts, and what has been decoded of it.
type chunk struct {
	header
	ids, values, locations, windows section

	boundary []byte // a byte a voxel: 1 on the boundary
	dst      []byte
}

// section is an array of numbers in a chunk.
type section struct {
	name  string
	data  []byte
	begin int // of data, in the chunk
	width int // bytes of a number
}

// len returns how many numbers the section has.
func (s section) len() int { return len(s.data) / s.width }

// at returns number i.
func (s section) at(i int) uint64 {
	var n uint64
	for b, v := range s.data[i*s.width:][:s.width] {
		n |= uint64(v) << (8 * b)
	}
	return n
}

// fault returns the error for number i.
func (s section) fault(i int, expected string, found any) error {
	return &FormatError{fmt.Sprintf("%s %d", s.name, i), s.begin + i*s.width, expected, fmt.Sprint(found)}
}

// decodeWindows sets the bits of all windows in the chunk's boundary.
func (c *chunk) decodeWindows() error {
	c.boundary = make([]byte, c.size[0]*c.size[1]*c.size[2])
	if c.values.len() == 0 {
		return nil // no boundary at all
	}
	total, done, next := c.grid[0]*c.grid[1]*c.grid[2], 0, 0
	first := c.values.at(0)
	for ; done < total; next++ {
		if next == c.windows.len() {
			return c.windows.fault(next, fmt.Sprintf("%d windows", total), fmt.Sprintf("%d before the end", done))
		}
		// The lowest bit tells a run of the first value from the number of a value.
		n := c.windows.at(next)
		isRun, n := n&1 == 1, n>>1
		switch {
		case isRun && n > uint64(total-done):
			return c.windows.fault(next, fmt.Sprintf("a run within %d windows, %d done", total, done), n)
		case isRun && first == 0: // nothing to set, as in most chunks
			done += int(n)
		case isRun:
			for end := done + int(n); done < end; done++ {
				c.setWindow(done, first)
			}
		case n >= uint64(c.values.len()):
			return c.windows.fault(next, fmt.Sprintf("one of %d values", c.values.len()), n)
		default:
			c.setWindow(done, c.values.at(int(n)))
			done++
		}
	}
	return c.checkIndex(next)
}

// setWindow sets the bits of a window. What sticks out of the chunk is nothing.
func (c *chunk) setWindow(window int, value uint64) {
	x := window % c.grid[0] * c.step[0]
	y := window / c.grid[0] % c.grid[1] * c.step[1]
	z := window / c.grid[0] / c.grid[1] * c.step[2]
	for ; value != 0; value &= value - 1 {
		bit := bits.TrailingZeros64(value)
		x := x + bit%c.step[0]
		y := y + bit/c.step[0]%c.step[1]
		z := z + bit/c.step[0]/c.step[1]
		if x < c.size[0] && y < c.size[1] && z < c.size[2] {
			c.boundary[x+c.size[0]*(y+c.size[1]*z)] = 1
		}
	}
}
