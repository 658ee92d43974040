package render

import (
	"encoding/binary"
	"image/color"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// Kind is how the voxels of a layer are drawn.
type Kind uint8

// The kinds.
const (
	Grey     Kind = iota // grey levels of the first channel
	RGB                  // three channels of uint8 are red, green and blue
	Segments             // a colour for each ID of the first channel
)

// KindOf returns the kind of a layer with voxels of some channels of a type. Category is that of the layer: color,
// segmentation, or empty if it is not known.
func KindOf(category string, t volume.Type, channels int) Kind {
	switch {
	case category == "segmentation" && t.IsInteger():
		return Segments
	case t == volume.Uint8 && channels == 3:
		return RGB
	}
	return Grey
}

var le = binary.LittleEndian

// Values returns a function that reads a value of a type from its little-endian bytes.
func Values(t volume.Type) func([]byte) float64 {
	switch t {
	case volume.Uint8:
		return func(b []byte) float64 { return float64(b[0]) }
	case volume.Uint16:
		return func(b []byte) float64 { return float64(le.Uint16(b)) }
	case volume.Uint32:
		return func(b []byte) float64 { return float64(le.Uint32(b)) }
	case volume.Uint64:
		return func(b []byte) float64 { return float64(le.Uint64(b)) }
	case volume.Int8:
		return func(b []byte) float64 { return float64(int8(b[0])) }
	case volume.Int16:
		return func(b []byte) float64 { return float64(int16(le.Uint16(b))) }
	case volume.Int32:
		return func(b []byte) float64 { return float64(int32(le.Uint32(b))) }
	case volume.Int64:
		return func(b []byte) float64 { return float64(int64(le.Uint64(b))) }
	case volume.Float32:
		return func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }
	}
	return func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }
}

// ID returns a little-endian integer of 1, 2, 4 or 8 bytes as an unsigned one.
func ID(b []byte) uint64 {
	var wide [8]byte
	copy(wide[:], b)
	return le.Uint64(wide[:])
}

// Colour returns the colour of a segment ID. It has any hue, and is neither pale nor dark. Consecutive IDs have
// colours that are not similar. ID 0, the background, is transparent.
func Colour(id uint64) color.NRGBA {
	if id == 0 {
		return color.NRGBA{}
	}
	n := (id ^ id>>30) * 0xbf58476d1ce4e5b9 // the mixer of SplitMix64
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
