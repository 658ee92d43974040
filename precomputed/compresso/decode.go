// Package compresso decodes compresso, an encoding of label volumes in Neuroglancer Precomputed.
//
// A chunk stores the boundary between labels, with one bit per voxel. Voxels between boundaries are connected and
// have one label. Most voxels on the boundary have the label of a neighbour. A chunk consists of
//
//	header     36 bytes
//	ids        a label for each connected component of voxels off the boundary
//	values     the different bitmaps of the boundary in small windows
//	locations  a code for each boundary voxel that has no earlier neighbour off the boundary
//	windows    the value of each window, run-length encoded
//	index      version 1 only: the start of each slice; Decode does not need it
//
// The format is that of the library seung-lab/compresso, versions 0 and 1, described in its README. The format of the
// original publication is different. All numbers are little-endian. The functions of the package may be called by
// many goroutines at once.
package compresso

import (
	"fmt"
	"math"
	"math/bits"
)

// Decode decodes one chunk of one channel into dst.
//
// size is the size of the chunk in voxels, in the order x, y, z. bytesPerValue is 1, 2, 4 or 8 (uint8 to uint64).
// Both must be equal to those in the header of the chunk.
//
// Decode writes little-endian labels to dst, with x fastest. dst must have exactly size·bytesPerValue bytes. Its
// content is undefined after an error. Decode does not modify or retain data. If data is invalid, the error is a
// [*volume.FormatError] with a byte offset in data.
//
// The memory that Decode takes is proportional to dst, even if data is invalid: a byte per voxel, and 16 bytes for
// each run of voxels between boundaries.
func Decode(data []byte, size [3]int, bytesPerValue int, dst []byte) error {
	switch bytesPerValue {
	case 1, 2, 4, 8:
	default:
		return fmt.Errorf("compresso: %d bytes per value: expected 1, 2, 4 or 8", bytesPerValue)
	}
	if min(size[0], size[1], size[2]) < 1 || max(size[0], size[1], size[2]) > math.MaxUint16 {
		return fmt.Errorf("compresso: %v voxels: expected 1 to %d on each axis", size, math.MaxUint16)
	}
	// The product of three 16-bit numbers and 8 does not overflow.
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

// Memory returns how many bytes Decode takes at most for a number of voxels, with garbage: a byte for each voxel, and
// 16 for each run.
func Memory(voxels int) int { return voxels + 2*16*(voxels/2+1) }

// chunk has the parts of a chunk, and the decoded voxels.
type chunk struct {
	header
	ids, values, locations, windows section

	boundary []byte // a byte per voxel: 1 on the boundary
	dst      []byte
}

// section is an array of numbers in a chunk.
type section struct {
	name   string
	data   []byte
	offset int // of data, in the chunk
	width  int // bytes of a number
}

// len returns the count of numbers.
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
	return invalid(fmt.Sprintf("%s %d", s.name, i), s.offset+i*s.width, expected, fmt.Sprint(found))
}

// decodeWindows sets the boundary from the windows.
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
		// If the lowest bit is set, the number is a run of windows with the first value, else the number of a value.
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
	return c.checkEnd(next)
}

// setWindow sets the boundary in one window. It ignores bits outside the chunk.
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
