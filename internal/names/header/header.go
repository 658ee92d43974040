// Package header writes headers for flat voxels, so that existing programs can open them: NumPy .npy, NRRD,
// MetaImage, NIfTI, XDMF and TIFF. It also writes volume.json.
//
// Headers do not change the voxels, which are little-endian, in Fortran order, with interleaved channels (see package
// volume). Each format here can describe that. A format is a pure function from an [Array] to a [Layout]:
//
//	attached   head, voxels[, tail] in one file          .npy .nrrd .nii .tif
//	detached   only a head, with the name of a raw file  .nhdr .mhd .xmf
//
// The head of an attached format has a multiple of [Align] bytes. So a voxel has the same offset in a page of a
// mapped file as in the raw file.
//
// # Where the voxels are
//
// Voxel 0,0,0 is at Origin × Spacing nm. All formats except .npy have this position and the spacing, in the unit
// nearest to nm that their readers support:
//
//	NRRD     nm    the unit is a field; readers do not convert
//	Meta     nm    the same; so all readers that ignore units get the numbers of NRRD
//	TIFF     nm    as ImageJ writes it; the position is in voxels
//	XDMF     nm    the format has no unit
//	NIfTI    mm    the only unit that ITK applies to the position too
//
// Array.Unit sets another unit for all of them but TIFF, whose readers show the unit. NRRD and MetaImage name it. NIfTI
// names µm; it has no nm, so then the header has no unit. XDMF never has one.
//
// If the spacing of any axis is unknown, all spacings are 1 and there is no unit.
//
// An Array of several times is their volumes, one after the other. It has an axis of time, the slowest one, in NumPy,
// in NIfTI and in TIFF, as a hyperstack of ImageJ or an image of OME. The other formats have none.
//
// If a format cannot describe an array, the error is an [*Unrepresentable]. All functions may be called by many
// goroutines at once.
//
// # Decisions
//
// header is a package of its own, because formats are pure functions of a description and need no view to be
// tested.
//
// A TIFF is classic while it fits, otherwise a BigTIFF, because ImageJ opens no BigTIFF by itself. A file has one
// description: ImageJ's in a classic TIFF, OME-XML in a BigTIFF.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - Lengths in headers are in mm in NIfTI, and in nm in NRRD, MetaImage, XDMF and TIFF. `--unit` sets another
//     unit for all of them but TIFF. The attribute `user.wkwfs.unit` has the unit of a file, and `header_units` in
//     `volume.json` those of all formats. `voxel_size` is in nm.
//     `TestUnit`, `TestUnits`
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

// Align is the alignment of voxels after an attached head, in bytes: a page.
const Align = 4096

// Array describes the voxels.
type Array struct {
	Grid     volume.Grid // only volume.json uses Block
	Data     string      // name of the raw file, in the directory of a detached header: "volume.raw"
	Name     string      // for people: "color/2-2-1"; may be empty
	Category string      // "color", "segmentation" or ""
	Unit     Unit        // of the lengths; empty: what the format has without it
	Times    int         // volumes of Grid, one after the other in time; 0: one, without an axis of time
}

// Layout is a file: Head, the voxels unless the format is detached, and Tail. Callers must not modify Head.
type Layout struct {
	Head     []byte
	Tail     io.ReaderAt // nil if TailSize is 0; may be used by many goroutines at once
	TailSize int64       // in bytes
}

// Format is a file format.
type Format struct {
	Suffix   string // with the dot
	Name     string
	Detached bool // the file is only a head, with the name Array.Data
	HasTimes bool // the format has an axis of time
	Layout   func(Array) (Layout, error)

	unit      Unit // of the lengths, if Array.Unit is empty; empty: the format has none
	fixedUnit bool // Array.Unit does not count
}

// Formats lists all formats, in the order for directories.
func Formats() []Format {
	return []Format{
		{Suffix: ".npy", Name: "NumPy", HasTimes: true, Layout: headOnly(NPY)},
		{Suffix: ".nrrd", Name: "NRRD", Layout: headOnly(NRRD), unit: Nanometre},
		{Suffix: ".nhdr", Name: "NRRD", Detached: true, Layout: headOnly(NHDR), unit: Nanometre},
		{Suffix: ".mhd", Name: "MetaImage", Detached: true, Layout: headOnly(MHD), unit: Nanometre},
		{Suffix: ".nii", Name: "NIfTI", HasTimes: true, Layout: headOnly(NIfTI), unit: Millimetre},
		{Suffix: ".xmf", Name: "XDMF", Detached: true, Layout: headOnly(XDMF), unit: Nanometre},
		{Suffix: ".tif", Name: "TIFF", HasTimes: true, Layout: TIFF, unit: Nanometre, fixedUnit: true},
	}
}

// headOnly returns the Layout function of a format without a tail.
func headOnly(head func(Array) ([]byte, error)) func(Array) (Layout, error) {
	return func(a Array) (Layout, error) {
		h, err := head(a)
		return Layout{Head: h}, err
	}
}

// Unrepresentable is the error for an array that a format cannot describe.
type Unrepresentable struct {
	Format string // as in Format.Name
	Reason string
}

func (e *Unrepresentable) Error() string {
	return fmt.Sprintf("%s cannot hold this array: %s", e.Format, e.Reason)
}

// check returns an error for an array that is invalid for all formats.
func (a Array) check() error {
	a.Grid.Block = volume.Cube(1) // headers have no blocks
	if err := a.Check(); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	g := a.Grid
	if _, known := nanometres[a.Unit]; a.Unit != "" && !known {
		return fmt.Errorf("header: %q is not a unit", a.Unit)
	}
	for axis, s := range g.Spacing {
		if !(s >= 0) || math.IsInf(s, 0) {
			return fmt.Errorf("header: spacing on axis %d is %g nm", axis, s)
		}
	}
	return nil
}

// Bytes returns the length of the voxels of all times. It must fit.
func (a Array) Bytes() int64 { return a.Grid.Bytes() * int64(max(a.Times, 1)) }

// Check returns why the voxels of all times cannot be a file, or nil. Formats have limits of their own.
func (a Array) Check() error {
	if err := a.Grid.Validate(); err != nil {
		return err
	}
	if a.Times < 0 || a.Times > 1 && a.Grid.Bytes() > math.MaxInt64/int64(a.Times) {
		return fmt.Errorf("%d times of %v voxels: %w", a.Times, a.Grid.Size, volume.ErrTooLarge)
	}
	return nil
}

// checkDetached is check for a header with the name of the raw file.
func (a Array) checkDetached() error {
	bare := a.Data != "" && a.Data == path.Base(a.Data) && a.Data != "." && a.Data != ".."
	if !bare || a.Data != oneLine(a.Data) {
		return fmt.Errorf("header: %q is not the name of a raw file in the same directory", a.Data)
	}
	return a.check()
}

// isRGB reports whether the voxels are 8-bit colours.
func (a Array) isRGB() bool { return a.Grid.Type == volume.Uint8 && a.Grid.Channels == 3 }

// spacing returns nm per voxel, and true. If the spacing of any axis is unknown, it returns 1s, and false.
func (a Array) spacing() (perVoxel [3]float64, calibrated bool) {
	for _, s := range a.Grid.Spacing {
		if s == 0 {
			return [3]float64{1, 1, 1}, false
		}
	}
	return a.Grid.Spacing, true
}

// world returns the spacing and the position of voxel 0,0,0 in a unit. If the spacing is unknown, calibrated is false
// and the numbers are in voxels.
func (a Array) world(unit Unit) (spacing, origin [3]float64, calibrated bool) {
	spacing, calibrated = a.spacing()
	for axis := range spacing {
		// Divide last: 11.24/1e6 is the number nearest to 0.00001124, but 11.24×1e-6 is not.
		origin[axis] = float64(a.Grid.Origin[axis]) * spacing[axis]
		if calibrated {
			spacing[axis] /= nanometres[unit]
			origin[axis] /= nanometres[unit]
		}
	}
	return spacing, origin, calibrated
}

// oneLine replaces control characters by spaces, so that s is safe in a line of text.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// cut returns at most the first n bytes of s. It does not split characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// roundUp returns the smallest multiple of unit that is ≥ n.
func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
