package header

import (
	"bytes"
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// Where a plane has more bytes than this, it is cut into strips of whole rows:
// readers hold a strip in memory, and many cannot hold 2 GiB.
const maxStrip = 1 << 30

// TIFF returns the layout of a TIFF file, with a page for each plane of z:
//
//	head    file header, the first page's directory, what all directories
//	        refer to, zeros up to a multiple of Align
//	voxels  plane after plane, channels interleaved
//	tail    the directories of the other pages, all of one size
//
// The tail is computed as it is read, in time proportional to the bytes asked for.
// An array of one plane has no tail: this is also the layout of a slice.
//
// The file is a classic TIFF where all offsets fit 32 bits, because ImageJ opens no
// other by itself; else a BigTIFF. The first page's description is ImageJ's, or of a
// BigTIFF OME's: number of planes, unit, spacing, and the place of voxel 0,0,0. There
// can be only one; tifffile and Bio-Formats read both.
//
// By itself ImageJ opens one channel of up to 32 bits, of which it takes int8 for
// uint8 and uint32 for int32, and 8-bit RGB. For the rest Fiji has Bio-Formats.
func TIFF(a Array) (Layout, error) {
	if err := a.check(); err != nil {
		return Layout{}, err
	}
	for _, width := range [...]tiffWidth{classic, bigTIFF} {
		t, err := newTIFF(a, width)
		if err != nil {
			return Layout{}, err
		}
		if t.end() <= width.limit {
			return t.layout(), nil
		}
	}
	return Layout{}, &Unrepresentable{"TIFF", "the file would have more than 2^63 − 1 bytes"}
}

// tiff computes the parts of the file. It is immutable once built.
type tiff struct {
	width  tiffWidth
	shared []tiffField // what the directories of all pages say
	first  []tiffField // what only the first one says
	pool   []byte      // values that do not fit a field; they follow the first directory

	planes     int
	planeBytes int64
	rows       int   // of a plane
	stripRows  int   // rows of a full strip
	stripBytes int64 // bytes of a full strip
}

func newTIFF(a Array, width tiffWidth) (*tiff, error) {
	g := a.Grid
	if g.Size[0] > math.MaxInt32 || g.Size[1] > math.MaxInt32 || g.Size[2] > math.MaxInt32 {
		return nil, &Unrepresentable{"TIFF", fmt.Sprintf("%v voxels: readers count to 2^31 − 1", g.Size)}
	}
	if g.Channels > math.MaxUint16 {
		return nil, &Unrepresentable{"TIFF", fmt.Sprintf("%d channels: more than 65535", g.Channels)}
	}
	rowBytes := int64(g.VoxelBytes()) * int64(g.Size[0])
	t := &tiff{width: width, planes: g.Size[2], planeBytes: rowBytes * int64(g.Size[1]), rows: g.Size[1]}
	t.stripRows = int(min(int64(t.rows), max(1, maxStrip/rowBytes)))
	t.stripBytes = int64(t.stripRows) * rowBytes
	if t.strips() > math.MaxUint16 {
		return nil, &Unrepresentable{"TIFF", fmt.Sprintf("a plane of %d bytes needs %d strips", t.planeBytes, t.strips())}
	}
	return t, t.describe(a)
}

// describe fills in the fields that do not depend on the page.
func (t *tiff) describe(a Array) error {
	g := a.Grid
	subfile, photometric := uint64(0), uint64(1) // an image; black is zero
	if t.planes > 1 {
		subfile = 2 // one page of many
	}
	if a.rgb() {
		photometric = 2
	}
	t.shared = []tiffField{
		t.field(tagNewSubfileType, typeLong, subfile),
		t.field(tagImageWidth, typeLong, uint64(g.Size[0])),
		t.field(tagImageLength, typeLong, uint64(g.Size[1])),
		t.field(tagBitsPerSample, typeShort, repeat(8*g.Type.Size(), g.Channels)...),
		t.field(tagCompression, typeShort, 1), // none
		t.field(tagPhotometric, typeShort, photometric),
		t.field(tagSamplesPerPixel, typeShort, uint64(g.Channels)),
		t.field(tagRowsPerStrip, typeLong, uint64(t.stripRows)),
		t.field(tagPlanarConfiguration, typeShort, 1), // channels interleaved
		t.field(tagResolutionUnit, typeShort, 1),      // none of TIFF's: the description names it
		t.field(tagSampleFormat, typeShort, repeat(sampleFormat(g.Type), g.Channels)...),
	}
	if g.Channels > 1 && !a.rgb() {
		unspecified := repeat(0, g.Channels-1)
		t.shared = append(t.shared, t.field(tagExtraSamples, typeShort, unspecified...))
	}
	if spacing, known := a.spacing(); known {
		for axis, tag := range [...]uint16{tagXResolution, tagYResolution} {
			num, den, ok := rational(1 / spacing[axis])
			if !ok {
				return &Unrepresentable{"TIFF", fmt.Sprintf("%g nm per voxel has no 32-bit fraction", spacing[axis])}
			}
			t.shared = append(t.shared, t.field(tag, typeRational, uint64(num)|uint64(den)<<32))
		}
	}
	t.first = []tiffField{t.text(tagImageDescription, t.description(a))}
	return nil
}

// description is ImageJ's where ImageJ opens the file by itself, else OME's, by which
// Bio-Formats knows size, spacing and unit of a BigTIFF. tifffile reads both.
func (t *tiff) description(a Array) []byte {
	if t.width == bigTIFF {
		if text := ome(a); text != nil {
			return text
		}
	}
	return imageJ(a)
}

// sampleFormat returns TIFF's number for the kind of number.
func sampleFormat(t volume.Type) int {
	switch t {
	case volume.Int8, volume.Int16, volume.Int32, volume.Int64:
		return 2
	case volume.Float32, volume.Float64:
		return 3
	}
	return 1
}

// imageJ returns the description in the form that ImageJ writes, with its final zero
// byte. The origin is the pixel at which the calibrated coordinates are 0.
func imageJ(a Array) []byte {
	g := a.Grid
	var b bytes.Buffer
	fmt.Fprintf(&b, "ImageJ=1.53t\nimages=%d\nslices=%d\n", g.Size[2], g.Size[2])
	if spacing, known := a.spacing(); known {
		fmt.Fprintf(&b, "unit=nm\nspacing=%v\n", spacing[2])
	}
	b.WriteString("loop=false\n")
	for axis, name := range [...]string{"xorigin", "yorigin", "zorigin"} {
		fmt.Fprintf(&b, "%s=%d\n", name, -g.Origin[axis])
	}
	b.WriteByte(0)
	return b.Bytes()
}

func repeat(v, n int) []uint64 {
	values := make([]uint64, n)
	for i := range values {
		values[i] = uint64(v)
	}
	return values
}
