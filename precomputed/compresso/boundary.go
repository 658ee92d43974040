package compresso

import (
	"bytes"
	"fmt"
)

// Codes in the locations. Numbers from labelBase are labels plus labelBase.
const (
	codeLeft = iota // x − 1
	codeRight
	codeUp // y − 1
	codeDown
	codeAbove // z − 1
	codeBelow
	codeLabel // the next number is the label
	labelBase
)

// labelBoundary sets the labels of the voxels on the boundary. A voxel has the label of the first of these voxels
// that is off the boundary: x − 1, y − 1, and with connectivity 6 z − 1. If there is none, the next code in the
// locations gives the label.
func (c *chunk) labelBoundary() error {
	next := 0
	row, plane := c.size[0], c.size[0]*c.size[1]
	for z := range c.size[2] {
		for y := range c.size[1] {
			at := z*plane + y*row
			for x := 0; ; x++ {
				skip := bytes.IndexByte(c.boundary[at+x:at+row], 1)
				if skip < 0 {
					break
				}
				x += skip
				switch i := at + x; {
				case x > 0 && c.boundary[i-1] == 0:
					c.copyLabel(i, i-1)
				case y > 0 && c.boundary[i-row] == 0:
					c.copyLabel(i, i-row)
				case c.connectivity == 6 && z > 0 && c.boundary[i-plane] == 0:
					c.copyLabel(i, i-plane)
				default:
					var err error
					if next, err = c.labelByCode(next, [3]int{x, y, z}); err != nil {
						return err
					}
				}
			}
		}
	}
	if next != c.locations.len() {
		return c.locations.fault(next, "the end of the locations", fmt.Sprintf("%d more", c.locations.len()-next))
	}
	return nil
}

// copyLabel sets the label of voxel to to that of voxel from.
func (c *chunk) copyLabel(to, from int) {
	copy(c.dst[to*c.width:][:c.width], c.dst[from*c.width:])
}

// labelByCode sets the label of a voxel by the code in location next. It returns the location after the code.
func (c *chunk) labelByCode(next int, voxel [3]int) (int, error) {
	if next == c.locations.len() {
		return 0, c.locations.fault(next, fmt.Sprintf("a code for voxel %v", voxel), "the end of the locations")
	}
	at := voxel[0] + c.size[0]*(voxel[1]+c.size[1]*voxel[2])
	out := c.dst[at*c.width:][:c.width]
	code := c.locations.at(next)
	switch {
	case code < codeLabel:
		if !c.copyNeighbour(int(code), at, voxel) {
			return 0, c.locations.fault(next, fmt.Sprintf("a code for a neighbour of voxel %v that has a label", voxel),
				code)
		}
	case code == codeLabel:
		next++
		if next == c.locations.len() {
			return 0, c.locations.fault(next, fmt.Sprintf("the label of voxel %v", voxel), "the end of the locations")
		}
		copy(out, c.locations.data[next*c.width:])
	default:
		label := code - labelBase
		for b := range out {
			out[b] = byte(label >> (8 * b))
		}
	}
	return next + 1, nil
}

// copyNeighbour sets the label of voxel at to that of a neighbour. It returns false if there is no such voxel, or if
// that voxel has no label yet because it is a later one on the boundary.
func (c *chunk) copyNeighbour(code, at int, voxel [3]int) bool {
	axis, forward := code/2, code%2 == 1
	stride := [...]int{1, c.size[0], c.size[0] * c.size[1]}[axis]
	if !forward {
		if voxel[axis] == 0 {
			return false
		}
		c.copyLabel(at, at-stride)
		return true
	}
	if voxel[axis] == c.size[axis]-1 || c.boundary[at+stride] != 0 {
		return false
	}
	c.copyLabel(at, at+stride)
	return true
}
