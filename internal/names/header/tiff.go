package header

import (
	"bytes"
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
	"github.com/wkwfs/wkwfs/volume"
)

// maxStrip limits a strip, in bytes. A larger plane is divided into strips of whole rows, because readers load a
// strip into memory, and many cannot load 2 GiB.
const maxStrip = 1 << 30

// TIFF returns the layout of a TIFF file with a page for each plane of z, time after time:
//
//	head    file header, directory of the first page, values that all directories share, zeros up to a
//	        multiple of Align
//	voxels  plane after plane, channels interleaved
//	tail    directories of the other pages, all of the same size
//
// The tail is computed when it is read, in time proportional to the bytes read. An array of one plane, such as a
// slice, has no tail.
//
// The file is a classic TIFF if all offsets fit 32 bits, because ImageJ without Bio-Formats opens no BigTIFF.
// Otherwise it is a BigTIFF. The description of the first page has the number of planes, the unit, the spacing and
// the position of voxel 0,0,0. A file has one description: in the format of ImageJ for a classic TIFF, of OME for a
// BigTIFF. tifffile and Bio-Formats read both.
//
// Three channels of uint8 are RGB, and four are RGB with an extra sample, which ImageJ ignores.
//
// ImageJ without Bio-Formats opens 8-bit RGB, and one channel of up to 32 bits. It treats int8 as uint8 and uint32 as
// int32.
func TIFF(a Array) (Layout, error) {
	if err := a.check(); err != nil {
		return Layout{}, err
	}
	for _, width := range [...]tiffWidth{classic, bigTIFF} {
		t, err := newTIFF(a, width, maxStrip)
		if err != nil {
			return Layout{}, err
		}
		if t.end() <= width.limit {
			return t.layout(), nil
		}
	}
	return Layout{}, &Unrepresentable{"TIFF", "the file would have more than 2^63 − 1 bytes"}
}

// tiffFile computes the parts of a file. It is immutable.
type tiffFile struct {
	width  tiffWidth
	shared []tiffField // of the directories of all pages
	first  []tiffField // of the first directory only
	pool   []byte      // values that do not fit a field; it follows the first directory

	planes     int
	planeBytes int64
	rows       int   // of a plane
	stripRows  int   // rows of a full strip
	stripBytes int64 // bytes of a full strip
}

// newTIFF computes a file with strips of up to strip bytes, or of one row.
func newTIFF(a Array, width tiffWidth, strip int64) (*tiffFile, error) {
	g := a.Grid
	times := max(a.Times, 1)
	if g.Size[0] > math.MaxInt32 || g.Size[1] > math.MaxInt32 || g.Size[2] > math.MaxInt32/times {
		const limit = "%v voxels at %d times: readers support at most 2^31 − 1 on an axis, and as many pages"
		return nil, &Unrepresentable{"TIFF", fmt.Sprintf(limit, g.Size, times)}
	}
	if g.Channels > math.MaxUint16 {
		return nil, &Unrepresentable{"TIFF", fmt.Sprintf("%d channels: more than 65535", g.Channels)}
	}
	rowBytes := int64(g.VoxelBytes()) * int64(g.Size[0])
	t := &tiffFile{width: width, planes: g.Size[2] * times, planeBytes: rowBytes * int64(g.Size[1]), rows: g.Size[1]}
	t.stripRows = int(min(int64(t.rows), max(1, strip/rowBytes)))
	t.stripBytes = int64(t.stripRows) * rowBytes
	if t.strips() > math.MaxUint16 {
		return nil, &Unrepresentable{"TIFF", fmt.Sprintf("a plane of %d bytes needs %d strips", t.planeBytes,
			t.strips())}
	}
	return t, t.describe(a)
}

// describe sets the fields that do not depend on the page.
func (t *tiffFile) describe(a Array) error {
	g := a.Grid
	subfile := uint64(0) // an image
	if t.planes > 1 {
		subfile = tiff.Page
	}
	photometric, colours := tiffColours(g)
	t.shared = []tiffField{
		t.field(tiff.TagNewSubfileType, tiff.Long, subfile),
		t.field(tiff.TagImageWidth, tiff.Long, uint64(g.Size[0])),
		t.field(tiff.TagImageLength, tiff.Long, uint64(g.Size[1])),
		t.field(tiff.TagBitsPerSample, tiff.Short, repeat(8*g.Type.Size(), g.Channels)...),
		t.field(tiff.TagCompression, tiff.Short, tiff.Uncompressed),
		t.field(tiff.TagPhotometric, tiff.Short, uint64(photometric)),
		t.field(tiff.TagSamplesPerPixel, tiff.Short, uint64(g.Channels)),
		t.field(tiff.TagRowsPerStrip, tiff.Long, uint64(t.stripRows)),
		t.field(tiff.TagPlanarConfiguration, tiff.Short, tiff.Interleaved),
		t.field(tiff.TagResolutionUnit, tiff.Short, tiff.NoUnit), // the description names the unit
		t.field(tiff.TagSampleFormat, tiff.Short, repeat(tiff.SampleFormat(g.Type), g.Channels)...),
	}
	if g.Channels > colours {
		unspecified := repeat(0, g.Channels-colours)
		t.shared = append(t.shared, t.field(tiff.TagExtraSamples, tiff.Short, unspecified...))
	}
	if spacing, calibrated := a.spacing(); calibrated {
		for axis, tag := range [...]uint16{tiff.TagXResolution, tiff.TagYResolution} {
			num, den, ok := rational(1 / spacing[axis])
			if !ok {
				return &Unrepresentable{"TIFF", fmt.Sprintf("%g nm per voxel does not fit a 32-bit fraction",
					spacing[axis])}
			}
			t.shared = append(t.shared, t.field(tag, tiff.Rational, uint64(num)|uint64(den)<<32))
		}
	}
	t.first = []tiffField{t.text(tiff.TagImageDescription, t.description(a))}
	return nil
}

// tiffColours returns the PhotometricInterpretation of voxels, and how many channels are colours. The other channels
// are extra samples without a meaning.
func tiffColours(g volume.Grid) (photometric, colours int) {
	if g.Type == volume.Uint8 && (g.Channels == 3 || g.Channels == 4) {
		return tiff.RGB, 3
	}
	return tiff.BlackIsZero, 1
}

// description returns the description in the format of ImageJ, or of OME for a BigTIFF, where Bio-Formats reads size,
// spacing and unit from it.
func (t *tiffFile) description(a Array) []byte {
	if t.width == bigTIFF {
		if text := ome(a); text != nil {
			return text
		}
	}
	return imageJ(a)
}

// imageJ returns the description in the format of ImageJ, with a final zero byte. The origin is the pixel where the
// calibrated coordinates are 0.
func imageJ(a Array) []byte {
	g := a.Grid
	var b bytes.Buffer
	fmt.Fprintf(&b, "ImageJ=1.53t\nimages=%d\nslices=%d\n", g.Size[2]*max(a.Times, 1), g.Size[2])
	if a.Times > 0 {
		fmt.Fprintf(&b, "frames=%d\nhyperstack=true\n", a.Times)
	}
	if spacing, calibrated := a.spacing(); calibrated {
		fmt.Fprintf(&b, "unit=nm\nspacing=%v\n", spacing[2])
	}
	b.WriteString("loop=false\n")
	for axis, name := range [...]string{"xorigin", "yorigin", "zorigin"} {
		fmt.Fprintf(&b, "%s=%d\n", name, -g.Origin[axis])
	}
	b.WriteByte(0)
	return b.Bytes()
}

// repeat returns n times v.
func repeat(v, n int) []uint64 {
	values := make([]uint64, n)
	for i := range values {
		values[i] = uint64(v)
	}
	return values
}
