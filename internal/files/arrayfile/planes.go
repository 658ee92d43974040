package arrayfile

import (
	"context"
	"fmt"
	"sync"

	"github.com/wkwfs/wkwfs/volume"
)

// plane is one picture of an array.
type plane interface {
	// shape returns the geometry of the plane, an array with one voxel on z.
	shape() volume.Grid
	// readRows reads the rows y0 ≤ y < y1 into dst, as little-endian values. Several goroutines may call it at once.
	readRows(y0, y1 int, dst []byte) error
	// readBox reads a part of the columns and rows. z is not looked at.
	readBox(box volume.Box, dst []byte) error
	// decoded reports whether readRows decodes more than it returns.
	decoded() bool
	// stored returns the stored bytes of the plane.
	stored() int64
	// unit returns the size of what is decoded at least, in pixels.
	unit() (width, rows int)
	// sources returns the files that have the plane.
	sources() []*file
	// storedAs names the compression for people.
	storedAs() string
	// where returns the path of the file, and the offset of the plane in it, in bytes; -1 if the file has no other.
	where() (file string, offset int64)
}

// planes is an array of planes.
type planes struct {
	all   []plane
	whole bool // planes are decoded as a whole
}

// setPlanes sets the planes that hold the voxels of the array. All must have the same geometry.
func (a *Array) setPlanes(all []plane) error {
	first := all[0].shape()
	p := &planes{all: all}
	for i, each := range all {
		if g := each.shape(); g.Size != first.Size || g.Type != first.Type || g.Channels != first.Channels {
			file, offset := each.where()
			return invalid(file, fmt.Sprintf("plane %d", i), offset, text(first)+", as plane 0", text(g))
		}
		p.whole = p.whole || each.decoded()
	}
	a.Grid.Type, a.Grid.Channels = first.Type, first.Channels
	a.Grid.Size = volume.Vec{first.Size[0], first.Size[1], len(all)}
	a.Layout = Layout{Shape: []int{len(all), first.Size[1], first.Size[0]}, Axes: "zyx", channels: first.Channels}
	a.voxels = p
	return a.validate(a.Name())
}

// describePalette says that values are indices of a palette.
func (a *Array) describePalette(format string) {
	if a.Labels.Content == Unknown {
		a.Labels = Labels{Segmentation, "palette of the " + format}
		a.warn("%s with a palette: values are its indices, not its colours", format)
	}
}

// text returns the size and type of a plane.
func text(g volume.Grid) string {
	return fmt.Sprintf("%d × %d pixels of %d × %v", g.Size[0], g.Size[1], g.Channels, g.Type)
}

func (p *planes) read(ctx context.Context, box volume.Box, dst []byte) error {
	size := box.Size()
	g := p.all[0].shape()
	row := size[0] * g.VoxelBytes()
	for z := box.Min[2]; z < box.Max[2]; z++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := dst[:row*size[1]]
		dst = dst[len(part):]
		var err error
		if size[0] == g.Size[0] {
			err = p.all[z].readRows(box.Min[1], box.Max[1], part)
		} else {
			err = p.all[z].readBox(box, part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readColumns reads a part of the columns of a plane.
func readColumns(p plane, box volume.Box, dst []byte) error {
	g, size := p.shape(), box.Size()
	whole := g.Size[0] * g.VoxelBytes()
	rows := scratch(whole * size[1])
	defer recycle(rows)
	if err := p.readRows(box.Min[1], box.Max[1], rows); err != nil {
		return err
	}
	row, at := size[0]*g.VoxelBytes(), box.Min[0]*g.VoxelBytes()
	for y := range size[1] {
		copy(dst[y*row:][:row], rows[y*whole+at:])
	}
	return nil
}

// channelPlane is one plane whose channels are pictures of their own.
type channelPlane []plane

func (c channelPlane) shape() volume.Grid {
	g := c[0].shape()
	g.Channels = len(c)
	return g
}

func (c channelPlane) decoded() bool          { return c[0].decoded() }
func (c channelPlane) where() (string, int64) { return c[0].where() }

func (c channelPlane) readBox(box volume.Box, dst []byte) error { return readColumns(c, box, dst) }

func (c channelPlane) readRows(y0, y1 int, dst []byte) error {
	one := scratch(len(dst) / len(c))
	defer recycle(one)
	value := c[0].shape().Type.Size()
	for channel, p := range c {
		if err := p.readRows(y0, y1, one); err != nil {
			return err
		}
		scatter(dst[channel*value:], one, value, value*len(c))
	}
	return nil
}

// withChannels joins the planes of channels, which follow each other: c fastest, or z fastest.
func withChannels(pages []plane, channels int, fastest bool) ([]plane, error) {
	if channels == 1 {
		return pages, nil
	}
	n := len(pages) / channels
	joined := make([]plane, n)
	for z := range n {
		all := make(channelPlane, channels)
		for c := range channels {
			at := c*n + z
			if fastest {
				at = z*channels + c
			}
			all[c] = pages[at]
			if g := all[c].shape(); g != pages[0].shape() || g.Channels != 1 {
				file, offset := all[c].where()
				return nil, invalid(file, fmt.Sprintf("channel %d of plane %d", c, z), offset,
					text(pages[0].shape())+" with one channel", text(g))
			}
		}
		joined[z] = all
	}
	return joined, nil
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// scratch returns memory of n bytes with any content. recycle takes it back.
func scratch(n int) []byte {
	b := *buffers.Get().(*[]byte)
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

func recycle(b []byte) { buffers.Put(&b) }
