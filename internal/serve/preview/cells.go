package preview

import (
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/wkwfs/wkwfs/internal/serve/render"
	"github.com/wkwfs/wkwfs/volume"
)

// cells collects the voxels of a plane into equal cells, each of at least one voxel. A cell of an image is the mean of
// its voxels. A cell of a segmentation is the voxel in its middle: IDs have no mean.
type cells struct {
	kind          render.Kind
	grid          volume.Grid // of a voxel: type and channels
	box           volume.Box  // the plane
	size          volume.Vec  // voxels
	width, height int         // cells

	value func([]byte) float64

	values  int       // that are summed for each voxel: 1, or 3 of RGB; 0 of IDs
	sums    []float64 // of the values
	counts  []uint32  // of the voxels that are summed
	ids     []uint64
	damaged []bool // a voxel cannot be read
}

// newCells returns at most width × height cells.
func newCells(m Mag, box volume.Box, width, height int) *cells {
	size := box.Size()
	c := &cells{
		kind: render.KindOf(m.Category, m.Cube.Type, m.Cube.Channels), grid: m.Cube, box: box, size: size,
		width: min(width, size[0]), height: min(height, size[1]), value: render.Values(m.Cube.Type),
	}
	n := c.width * c.height
	c.damaged = make([]bool, n)
	if c.kind == render.Segments {
		c.ids = make([]uint64, n)
		return c
	}
	c.values = 1
	if c.kind == render.RGB {
		c.values = 3
	}
	c.sums, c.counts = make([]float64, n*c.values), make([]uint32, n)
	return c
}

// start returns the first voxel of a cell on an axis with some voxels and cells.
func start(cell, voxels, cells int) int { return (cell*voxels + cells - 1) / cells }

// columns returns the cells with a column of the part of the plane, and rows those with a row.
func (c *cells) columns(part volume.Box) (first, end int) {
	return span(part.Min[0]-c.box.Min[0], part.Max[0]-c.box.Min[0], c.size[0], c.width)
}

func (c *cells) rows(part volume.Box) (first, end int) {
	return span(part.Min[1]-c.box.Min[1], part.Max[1]-c.box.Min[1], c.size[1], c.height)
}

func span(low, high, voxels, cells int) (first, end int) {
	return low * cells / voxels, (high-1)*cells/voxels + 1
}

// markDamaged marks the cells with a voxel of the box.
func (c *cells) markDamaged(box volume.Box) {
	part := c.box.Intersect(box)
	if part.Empty() {
		return
	}
	x0, x1 := c.columns(part)
	y0, y1 := c.rows(part)
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			c.damaged[y*c.width+x] = true
		}
	}
}

// block is a decoded block.
type block struct {
	voxels []byte     // nil if it was never written
	extent volume.Vec // with padding
	stored volume.Box // voxels of the mag, without padding
}

// add adds the voxels of a block.
func (c *cells) add(b block) {
	part := c.box.Intersect(b.stored)
	if part.Empty() {
		return
	}
	first, end := c.rows(part)
	for y := first; y < end; y++ {
		top, bottom := c.box.Min[1]+start(y, c.size[1], c.height), c.box.Min[1]+start(y+1, c.size[1], c.height)
		if c.kind == render.Segments {
			if middle := top + (bottom-top)/2; b.voxels != nil && middle >= part.Min[1] && middle < part.Max[1] {
				c.addIDs(y, c.row(b, part, middle), part)
			}
			continue
		}
		for at := max(top, part.Min[1]); at < min(bottom, part.Max[1]); at++ {
			c.addRow(y, c.row(b, part, at), part)
		}
	}
}

// row returns the voxels of the part with one y. It returns nil if they were never written.
func (c *cells) row(b block, part volume.Box, y int) []byte {
	if b.voxels == nil {
		return nil
	}
	first := volume.Vec{part.Min[0], y, part.Min[2]}.Sub(b.stored.Min).Index(b.extent)
	n := c.grid.VoxelBytes()
	return b.voxels[first*n:][:part.Size()[0]*n]
}

// addIDs sets row y of the cells.
func (c *cells) addIDs(y int, row []byte, part volume.Box) {
	first, end := c.columns(part)
	n, size := c.grid.VoxelBytes(), c.grid.Type.Size()
	for x := first; x < end; x++ {
		middle := c.box.Min[0] + (start(x, c.size[0], c.width)+start(x+1, c.size[0], c.width))/2
		if middle >= part.Min[0] && middle < part.Max[0] {
			c.ids[y*c.width+x] = render.ID(row[(middle-part.Min[0])*n:][:size])
		}
	}
}

// addRow adds voxels to row y of the cells. If they were never written, row is nil.
func (c *cells) addRow(y int, row []byte, part volume.Box) {
	first, end := c.columns(part)
	n, size := c.grid.VoxelBytes(), c.grid.Type.Size()
	for x := first; x < end; x++ {
		low := max(c.box.Min[0]+start(x, c.size[0], c.width), part.Min[0])
		high := min(c.box.Min[0]+start(x+1, c.size[0], c.width), part.Max[0])
		cell := y*c.width + x
		if row == nil {
			c.counts[cell] += uint32(high - low)
			continue
		}
		for at := low; at < high; at++ {
			voxel := row[(at-part.Min[0])*n:]
			first := c.value(voxel)
			if math.IsNaN(first) { // it has no place in a mean
				continue
			}
			c.counts[cell]++
			c.sums[cell*c.values] += first
			for i := 1; i < c.values; i++ {
				c.sums[cell*c.values+i] += c.value(voxel[i*size:])
			}
		}
	}
}

// zero reports whether all cells are 0.
func (c *cells) zero() bool {
	return !slices.ContainsFunc(c.sums, func(v float64) bool { return v != 0 }) &&
		!slices.ContainsFunc(c.ids, func(id uint64) bool { return id != 0 }) &&
		!slices.Contains(c.counts, 0) // 0 of a cell of NaN
}

// draw returns a picture of the cells, and the window of an image of grey values.
func (c *cells) draw(width, height int) (*image.NRGBA, *render.Window) {
	colours, window := c.colours()
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			cell := y*c.height/height*c.width + x*c.width/width
			colour := colours[cell]
			if c.damaged[cell] {
				colour = hatch(x, y)
			}
			img.SetNRGBA(x, y, colour)
		}
	}
	return img, window
}

// hatch returns the colour of a pixel of damaged voxels: red stripes, which no voxels look like.
func hatch(x, y int) color.NRGBA {
	if (x+y)/2%2 == 0 {
		return color.NRGBA{255, 0, 0, 255}
	}
	return color.NRGBA{64, 0, 0, 255}
}

// colours returns the colour of each cell.
func (c *cells) colours() ([]color.NRGBA, *render.Window) {
	colours := make([]color.NRGBA, len(c.damaged))
	switch c.kind {
	case render.Segments:
		for i, id := range c.ids {
			colours[i] = render.Colour(id)
			colours[i].A = 255 // the background is black
		}
		return colours, nil
	case render.RGB:
		for i, n := range c.counts {
			if n > 0 {
				mean := func(channel int) uint8 { return uint8(c.sums[3*i+channel]/float64(n) + 0.5) }
				colours[i] = color.NRGBA{mean(0), mean(1), mean(2), 255}
			}
		}
		return colours, nil
	}
	means := make([]float64, 0, len(c.counts))
	for i, n := range c.counts {
		if n > 0 && !c.damaged[i] {
			means = append(means, c.sums[i]/float64(n))
		}
	}
	window := render.WindowOf(means)
	for i, n := range c.counts {
		grey := window.Grey(c.sums[i] / float64(n)) // NaN, which is black, without voxels
		colours[i] = color.NRGBA{grey, grey, grey, 255}
	}
	return colours, &window
}
