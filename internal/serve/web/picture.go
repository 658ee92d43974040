package web

import (
	"image"

	"github.com/wkwfs/wkwfs/internal/serve/render"
	"github.com/wkwfs/wkwfs/volume"
)

// plane holds the voxels of a box that is one voxel thick on z, as a box file has them: x fastest, channels
// interleaved.
type plane struct {
	info   volumeInfo
	width  int // voxels
	height int // voxels
	voxels []byte
}

// picture draws a plane: segment IDs in a colour for each ID, three channels of uint8 as red, green and blue, and
// everything else as the grey values of the first channel.
func (p plane) picture() image.Image {
	t := p.info.channelType()
	switch render.KindOf(p.info.Category, t, p.info.Channels) {
	case render.Segments:
		return p.coloured(t)
	case render.RGB:
		return p.rgb()
	}
	return p.grey(t)
}

func (p plane) bounds() image.Rectangle { return image.Rect(0, 0, p.width, p.height) }

func (p plane) rgb() image.Image {
	img := image.NewNRGBA(p.bounds())
	for i := range p.width * p.height {
		copy(img.Pix[4*i:], p.voxels[3*i:3*i+3])
		img.Pix[4*i+3] = 0xff
	}
	return img
}

// coloured gives each segment ID a colour. ID 0, the background, is transparent.
func (p plane) coloured(t volume.Type) image.Image {
	img := image.NewNRGBA(p.bounds())
	step := p.info.voxelBytes()
	for i := range p.width * p.height {
		c := render.Colour(render.ID(p.voxels[i*step:][:t.Size()]))
		img.Pix[4*i], img.Pix[4*i+1], img.Pix[4*i+2], img.Pix[4*i+3] = c.R, c.G, c.B, c.A
	}
	return img
}

// grey draws the first channel with its contrast stretched.
func (p plane) grey(t volume.Type) image.Image {
	img := image.NewGray(p.bounds())
	step, value := p.info.voxelBytes(), render.Values(t)
	values := make([]float64, p.width*p.height)
	for i := range values {
		values[i] = value(p.voxels[i*step:])
	}
	window := render.WindowOf(values)
	for i, v := range values {
		img.Pix[i] = window.Grey(v)
	}
	return img
}
