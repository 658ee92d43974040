package arrayfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"strings"

	"github.com/wkwfs/wkwfs/internal/fileformat/nifti"
	"github.com/wkwfs/wkwfs/volume"
)

// niftiUnits has the units of length in nm, by the lower three bits of xyzt_units.
var niftiUnits = map[uint32]float64{
	nifti.UnitMetre: 1e9, nifti.UnitMM: 1e6, nifti.UnitMicron: 1e3,
}

// niftiLayout has the offsets of the fields of one version, from nifti1.h and nifti2.h.
type niftiLayout struct {
	size                                                        int64 // bytes of the header
	magicAt                                                     int
	magic                                                       string
	datatype, dim, pixdim, voxOffset, slope, inter              int
	qformCode, sformCode, quatern, qoffset, srow, units, intent int
	width                                                       int // bytes of a float
}

var niftiVersions = [...]niftiLayout{
	{nifti.Size1, 344, nifti.Magic1, 70, 40, 76, 108, 112, 116, 252, 254, 256, 268, 280, 123, 68, 4},
	{nifti.Size2, 4, nifti.Magic2, 12, 16, 104, 168, 176, 184, 344, 348, 352, 376, 400, 500, 504, 8},
}

// isNIfTI reports whether b starts with a NIfTI header, in either byte order.
func isNIfTI(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	little, big := binary.LittleEndian.Uint32(b), binary.BigEndian.Uint32(b)
	return little == nifti.Size1 || little == nifti.Size2 || big == nifti.Size1 || big == nifti.Size2
}

// niftiHeader reads the fields of a header.
type niftiHeader struct {
	niftiLayout
	file  string
	bytes []byte
	order binary.ByteOrder
}

func (h *niftiHeader) float(at int) float64 {
	if h.width == 4 {
		return float64(math.Float32frombits(h.order.Uint32(h.bytes[at:])))
	}
	return math.Float64frombits(h.order.Uint64(h.bytes[at:]))
}

// dimension reads dim[i].
func (h *niftiHeader) dimension(i int) int64 {
	if h.width == 4 {
		return int64(int16(h.order.Uint16(h.bytes[h.dim+2*i:])))
	}
	return int64(h.order.Uint64(h.bytes[h.dim+8*i:]))
}

// code reads qform_code, sform_code, intent_code or xyzt_units.
func (h *niftiHeader) code(at int) uint32 {
	switch {
	case h.width == 8:
		return h.order.Uint32(h.bytes[at:])
	case at == h.units:
		return uint32(h.bytes[at])
	}
	return uint32(h.order.Uint16(h.bytes[at:]))
}

// offset reads vox_offset, which is a float in version 1.
func (h *niftiHeader) offset() float64 {
	if h.width == 4 {
		return h.float(h.voxOffset)
	}
	return float64(int64(h.order.Uint64(h.bytes[h.voxOffset:])))
}

func (h *niftiHeader) bad(field string, at int, expected string, found any) error {
	return invalid(h.file, field, int64(at), expected, fmt.Sprint(found))
}

var niftiFormat = format{is: isNIfTI, open: openNIfTI, packs: true}

// openNIfTI reads the header of a NIfTI-1 or NIfTI-2 image. The voxels are in the same file, or in a second file whose
// name ends with .img.
func openNIfTI(a *Array, in input) error {
	f, start, packed := in.file, in.start, in.packed
	h := &niftiHeader{file: f.Name(), bytes: start, order: binary.LittleEndian}
	if n := binary.BigEndian.Uint32(start); n == nifti.Size1 || n == nifti.Size2 {
		h.order, a.bigEndian = binary.BigEndian, true
	}
	for _, version := range niftiVersions {
		if int64(h.order.Uint32(start)) == version.size {
			h.niftiLayout = version
		}
	}
	if int64(len(start)) < h.size {
		return h.bad("header", 0, fmt.Sprintf("%d bytes", h.size), len(start))
	}
	pair, err := h.checkMagic()
	if err != nil {
		return err
	}
	if err := h.describe(a); err != nil {
		return err
	}
	h.readPosition(a)
	s := section{file: f, stream: packed}
	if packed != nil {
		s.encoding = gzipEncoding
	}
	least := float64(h.size)
	if pair {
		if packed != nil {
			return h.bad("magic", h.magicAt, "header and voxels in one file, or a pair without compression", "a pair")
		}
		if s.file, err = openImage(a, f.Name()); err != nil {
			return err
		}
		least = 0
	}
	at := h.offset()
	if !(at >= least) || at > maxVoxelOffset || packed == nil && at > float64(s.size) || at != math.Trunc(at) {
		return h.bad("vox_offset", h.voxOffset, fmt.Sprintf("%v to %d, and within the file", least, maxVoxelOffset), at)
	}
	s.skip = int64(at)
	return a.setVoxels(s)
}

// maxVoxelOffset is the greatest offset of the voxels in a file, in bytes. Headers have extensions of some kilobytes.
const maxVoxelOffset = 1 << 30

// checkMagic reports whether the voxels are in a second file.
func (h *niftiHeader) checkMagic() (pair bool, err error) {
	found, single := string(h.bytes[h.magicAt:][:len(h.magic)]), h.magic
	switch {
	case found == single:
		return false, nil
	case found == "ni"+single[2:]:
		return true, nil
	case h.size == nifti.Size1:
		// The older format has the same size, but its axes may go either way.
		return false, &volume.UnsupportedError{File: h.file, Part: "ANALYZE 7.5", Offset: int64(h.magicAt),
			Expected: fmt.Sprintf("NIfTI: %q, or %q in a header with an .img", single, "ni1\x00"),
			Found:    fmt.Sprintf("%q", found)}
	}
	return false, h.bad("magic", h.magicAt, fmt.Sprintf("%q", single), fmt.Sprintf("%q", found))
}

// openImage opens the second file of a pair: the name of the header with .img.
func openImage(a *Array, header string) (*file, error) {
	suffix := filepath.Ext(header)
	image := ".img"
	if suffix == strings.ToUpper(suffix) {
		image = ".IMG"
	}
	return a.open(strings.TrimSuffix(path.Base(filepath.ToSlash(header)), suffix) + image)
}

// finite returns v, or 0 if it is infinite or not a number.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

func (h *niftiHeader) describe(a *Array) error {
	code := h.order.Uint16(h.bytes[h.datatype:])
	var ok bool
	a.Grid.Type, ok = nifti.ParseDatatype(code)
	a.Grid.Channels = 1
	switch {
	case code == nifti.RGB24:
		a.Grid.Type, a.Grid.Channels = volume.Uint8, 3
	case code == nifti.RGBA32:
		a.Grid.Type, a.Grid.Channels = volume.Uint8, 4
	case !ok:
		return h.bad("datatype", h.datatype, "numbers of 8 to 64 bits, RGB24 or RGBA32", code)
	}
	if h.code(h.intent) == nifti.IntentLabel {
		a.Labels = Labels{Segmentation, "NIfTI intent 1002"}
	}
	axes := h.dimension(0)
	if axes < 1 || axes > 7 {
		return h.bad("dim[0]", h.dim, "1 to 7", axes)
	}
	a.Grid.Size = volume.Cube(1)
	for i := 1; i <= int(axes); i++ {
		n := h.dimension(i)
		if n < 1 || i > 4 && n != 1 || i == 4 && !a.setTimes(int(n)) {
			return h.bad(fmt.Sprintf("dim[%d]", i), h.dim,
				fmt.Sprintf("three axes of at least 1 voxel, and up to %d times", maxTimes), n)
		}
		if i <= 3 {
			a.Grid.Size[i-1] = int(n)
		}
		if i == 4 && n > 1 && a.Grid.Size[2] > math.MaxInt32/int(n) {
			return h.bad("dim[3]", h.dim, "planes of all times below 2^31", a.Grid.Size[2])
		}
		if i == 4 {
			a.Grid.Size[2] *= int(n)
		}
	}
	// As in NIfTI's library, a number that is not finite is 0. nibabel writes NaN for no scaling.
	slope, inter := finite(h.float(h.slope)), finite(h.float(h.inter))
	if slope != 0 && (slope != 1 || inter != 0) {
		return h.bad("scl_slope", h.slope, "no scaling", fmt.Sprintf("%v × value + %v", slope, inter))
	}
	return nil
}
