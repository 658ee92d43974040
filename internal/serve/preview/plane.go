package preview

import (
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// Canvas is the room for a picture.
type Canvas struct {
	Width, Height int     // pixels, at least 1
	PixelAspect   float64 // height of a pixel in widths of a pixel; 0 means 1
}

// fit returns the pixels of the largest picture of a plane that the canvas has room for. The picture has the aspect
// ratio of the plane in nm.
func (c Canvas) fit(m Mag) (width, height int) {
	aspect := c.PixelAspect
	if !(aspect > 0.01 && aspect < 100) {
		aspect = 1
	}
	size := m.Bounds.Size()
	// height in pixels / width in pixels
	tall := float64(size[1]) / float64(size[0]) * voxelAspect(m.Cube.Spacing) / aspect
	width, height = c.Width, c.Height
	if tall*float64(width) > float64(height) {
		width = int(math.Round(float64(height) / tall))
	} else {
		height = int(math.Round(float64(width) * tall))
	}
	return min(max(width, 1), c.Width), min(max(height, 1), c.Height)
}

// voxelAspect returns the height of a voxel in widths of a voxel. Voxels of an unknown or absurd size are squares.
func voxelAspect(nm [3]float64) float64 {
	if a := nm[1] / nm[0]; a > 1e-3 && a < 1e3 {
		return a
	}
	return 1
}

// choose returns the coarsest mag with at least a voxel for each pixel, else the finest mag. Mags are finest first.
func (c Canvas) choose(mags []Mag) Mag {
	for i := len(mags) - 1; i > 0; i-- {
		size := mags[i].Bounds.Size()
		if w, h := c.fit(mags[i]); size[0] >= w && size[1] >= h {
			return mags[i]
		}
	}
	return mags[0]
}

// plane returns the plane of a mag that has voxel z of mag 1. Without z it is the middle one.
func (m Mag) plane(z *int) (volume.Box, error) {
	box := m.Bounds
	at := box.Min[2] + box.Size()[2]/2
	if z != nil {
		at = volume.Vec{2: *z}.Div(volume.Vec{1, 1, m.Factor[2]})[2]
	}
	if at < box.Min[2] || at >= box.Max[2] {
		f := m.Factor[2]
		return box, fmt.Errorf("z %d is not in the layer: expected %d to %d, in voxels of mag 1", *z, box.Min[2]*f,
			box.Max[2]*f-1)
	}
	box.Min[2], box.Max[2] = at, at+1
	return box, nil
}

// Limits of the blocks that a picture needs.
const (
	maxBytes  = 512 << 20 // decoded
	maxBlocks = 1 << 16
)

// crop returns the middle of a plane whose blocks are within the limits: whole blocks, and at least one.
func (m Mag) crop(plane volume.Box) volume.Box {
	g := m.Cube
	limit := max(1, min(maxBytes/g.BlockBytes(), maxBlocks))
	// Blocks may start anew in each cube. That changes the number of blocks only at the edges of cubes.
	cells := plane.Sub(g.Origin).Div(g.Block)
	n := cells.Size()
	width, height := n[0], n[1]
	if width > limit || height > limit/width {
		side := int(math.Sqrt(float64(limit)))
		width = min(width, max(side, limit/height))
		height = min(height, limit/width)
	}
	cells.Min[0] += (n[0] - width) / 2
	cells.Min[1] += (n[1] - height) / 2
	cells.Max = cells.Min.Add(volume.Vec{width, height, 1})
	return plane.Intersect(volume.Box{Min: g.Origin.Add(cells.Min.Mul(g.Block)),
		Max: g.Origin.Add(cells.Max.Mul(g.Block))})
}
