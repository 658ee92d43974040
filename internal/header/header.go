// Package header writes the headers with which existing programs open flat
// voxels unchanged: NumPy .npy, NRRD, MetaImage, NIfTI, XDMF, TIFF, and the
// program's own volume.json.
//
// The voxels are never touched. They are little-endian, in Fortran order with
// interleaved channels (see package volume), and every format here can say
// exactly that. A format is a pure function from an [Array] to a [Layout]:
//
//	attached   head, voxels[, tail] in one file    .npy .nrrd .nii .tif
//	detached   head alone, naming the raw file     .nhdr .mhd .xmf
//
// The head of an attached format is always a multiple of [Align] bytes, so that
// voxels keep their place in the page when the file is mapped.
//
// # Where the voxels are
//
// Voxel 0,0,0 lies at Origin × Spacing nm. Every format but .npy carries that
// place and the spacing, in the unit nearest to nm that its readers understand:
//
//	NRRD     nm    the unit is a field; readers do not convert
//	TIFF     nm    in the way of ImageJ; the place is in voxels
//	XDMF     nm    the format has no unit
//	NIfTI    mm    of its units the only one that ITK applies to the place as well
//	Meta     mm    its readers take every number for mm
//
// Where the spacing of any axis is unknown, all are 1 and no unit is claimed.
//
// An array that a format cannot hold gives an [*Unrepresentable] error.
package header

import (
	"fmt"
	"io"
	"math"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/wkwfs/wkwfs/volume"
)

// Align is what the length of every attached head is a multiple of: a page.
const Align = 4096

// Array is what a header says of the voxels.
type Array struct {
	Grid     volume.Grid // Block is of no concern here
	Data     string      // bare name of the raw file beside a detached header: "volume.raw"
	Name     string      // what the array is, in words: "color/2-2-1"; may be empty
	Category string      // "color", "segmentation" or ""
}

// Layout is a file around flat voxels: Head, the voxels unless the format is
// detached, Tail. The reader of the layout must not write to Head.
type Layout struct {
	Head     []byte
	Tail     io.ReaderAt // nil when TailSize is 0; safe for many goroutines at once
	TailSize int64       // bytes
}

// Format is one way to present voxels.
type Format struct {
	Suffix   string // with its dot
	Name     string
	Detached bool // the head is the whole file and names Array.Data
	Layout   func(Array) (Layout, error)
}

// Formats lists all formats, in the order in which a directory shows them best.
func Formats() []Format {
	return []Format{
		{".npy", "NumPy", false, only(NPY)},
		{".nrrd", "NRRD", false, only(NRRD)},
		{".nhdr", "NRRD", true, only(NHDR)},
		{".mhd", "MetaImage", true, only(MHD)},
		{".nii", "NIfTI", false, only(NIfTI)},
		{".xmf", "XDMF", true, only(XDMF)},
		{".tif", "TIFF", false, TIFF},
	}
}

// only makes a format of a function that needs nothing but a head.
func only(head func(Array) ([]byte, error)) func(Array) (Layout, error) {
	return func(a Array) (Layout, error) {
		h, err := head(a)
		return Layout{Head: h}, err
	}
}

// Unrepresentable says that a format has no way to describe an array.
type Unrepresentable struct {
	Format string // as in Format.Name
	Reason string
}

func (e *Unrepresentable) Error() string {
	return fmt.Sprintf("%s cannot hold this array: %s", e.Format, e.Reason)
}

// check refuses an array that no header can describe.
func (a Array) check() error {
	g := a.Grid
	g.Block = volume.Cube(1) // headers do not know blocks
	if err := g.Validate(); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	for axis, s := range g.Spacing {
		if !(s >= 0) || math.IsInf(s, 0) {
			return fmt.Errorf("header: spacing on axis %d is %g nm", axis, s)
		}
	}
	return nil
}

// checkDetached is check for a header that names the raw file.
func (a Array) checkDetached() error {
	bare := a.Data != "" && a.Data == path.Base(a.Data) && a.Data != "." && a.Data != ".."
	if !bare || a.Data != oneLine(a.Data) {
		return fmt.Errorf("header: %q is not the bare name of a raw file", a.Data)
	}
	return a.check()
}

// rgb reports whether the voxels are 8-bit colours.
func (a Array) rgb() bool { return a.Grid.Type == volume.Uint8 && a.Grid.Channels == 3 }

// spacing returns nm per voxel and true, or 1s and false where any is unknown.
func (a Array) spacing() (perVoxel [3]float64, known bool) {
	for _, s := range a.Grid.Spacing {
		if s == 0 {
			return [3]float64{1, 1, 1}, false
		}
	}
	return a.Grid.Spacing, true
}

// world returns spacing and the place of voxel 0,0,0 in a unit of so many nm;
// known is false, and the numbers are in voxels, where the spacing is unknown.
func (a Array) world(unit float64) (spacing, origin [3]float64, known bool) {
	spacing, known = a.spacing()
	for axis := range spacing {
		// Division last: 11.24/1e6 is the number nearest to 0.00001124, 11.24×1e-6 is not.
		origin[axis] = float64(a.Grid.Origin[axis]) * spacing[axis]
		if known {
			spacing[axis] /= unit
			origin[axis] /= unit
		}
	}
	return spacing, origin, known
}

// oneLine makes s safe in a line of text: control characters become spaces.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// cut returns at most n bytes of s, whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// roundUp returns the smallest multiple of to that is ≥ n.
func roundUp(n, to int) int { return (n + to - 1) / to * to }
