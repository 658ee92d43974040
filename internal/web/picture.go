package web

import (
	"image"
	"image/color"
	"math"
	"slices"
)

// plane is voxels of one z, as a box file has them: x fastest, channels interleaved.
type plane struct {
	facts  facts
	width  int // voxels
	height int
	voxels []byte
}

// picture shows a plane: ids each in a colour of its own, three channels of uint8 as
// red, green and blue, everything else by its first channel in grey.
func (p plane) picture() image.Image {
	t := voxelTypes[p.facts.Dtype]
	switch {
	case p.facts.Category == "segmentation" && t.integer:
		return p.coloured(t)
	case p.facts.Dtype == "uint8" && p.facts.Channels == 3:
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

// coloured leaves what is 0 transparent: there, nothing was segmented.
func (p plane) coloured(t voxelType) image.Image {
	img := image.NewNRGBA(p.bounds())
	step := t.bytes * p.facts.Channels
	for i := range p.width * p.height {
		if n := id(p.voxels[i*step:][:t.bytes]); n != 0 {
			c := colourOf(n)
			img.Pix[4*i], img.Pix[4*i+1], img.Pix[4*i+2], img.Pix[4*i+3] = c.R, c.G, c.B, c.A
		}
	}
	return img
}

// colourOf gives an id a colour: any hue, never pale and never dark. Neighbours in
// number are strangers in colour.
func colourOf(n uint64) color.NRGBA {
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9 // the mixer of SplitMix64
	n = (n ^ n>>27) * 0x94d049bb133111eb
	n ^= n >> 31
	hue := float64(n>>40) / (1 << 24) * 6
	saturation := 0.45 + 0.4*float64(n>>8&0xff)/255
	value := 0.7 + 0.25*float64(n&0xff)/255
	channel := func(shift float64) uint8 {
		k := math.Mod(shift+hue, 6)
		return uint8(255 * (value - value*saturation*max(0, min(k, 4-k, 1))))
	}
	return color.NRGBA{channel(5), channel(3), channel(1), 0xff}
}

// grey stretches the contrast.
func (p plane) grey(t voxelType) image.Image {
	img := image.NewGray(p.bounds())
	step := t.bytes * p.facts.Channels
	values := make([]float64, p.width*p.height)
	for i := range values {
		values[i] = t.value(p.voxels[i*step:])
	}
	low, high := contrast(values)
	for i, v := range values {
		if v > low { // and not NaN
			img.Pix[i] = uint8(math.Round(255 * min((v-low)/(high-low), 1)))
		}
	}
	return img
}

// contrast returns what is to be black and white: all but one in a hundred of the values
// lie between on either side. Zeros do not count, they are often where nothing was
// recorded.
func contrast(values []float64) (low, high float64) {
	const enough = 1 << 16
	every := len(values)/enough + 1
	var some []float64
	for i := 0; i < len(values); i += every {
		if v := values[i]; v != 0 && !math.IsNaN(v) && !math.IsInf(v, 0) {
			some = append(some, v)
		}
	}
	if len(some) == 0 {
		return 0, 1
	}
	slices.Sort(some)
	low, high = some[len(some)/100], some[len(some)-1-len(some)/100]
	if low < high {
		return low, high
	}
	return min(0, low), max(0, high) // one value: white, or black if it is negative
}
