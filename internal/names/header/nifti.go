package header

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/internal/fileformat/nifti"
	"github.com/wkwfs/wkwfs/volume"
)

// NIfTI returns the header of a single-file NIfTI-1 image, or of NIfTI-2 if an axis has more than 32767 voxels.
// Voxels start at [Align]. Times are the fourth axis. The time between them is not known: it is 1, without a unit.
//
// Spacing and position are in mm, unless Array.Unit is set. The format has µm too, but ITK converts only the spacing
// from µm. It has no nm: lengths in nm are without a unit. The header has the position as qform and as sform. The axes
// of NIfTI point right, anterior and superior. Axes of a volume have no such meaning, so x, y and z map to them in this
// order. The only interleaved channels are RGB24.
func NIfTI(a Array) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	n, err := describeNIfTI(a)
	if err != nil {
		return nil, err
	}
	for _, extent := range append(n.size[:], n.times) {
		if extent > math.MaxInt16 {
			return n.version2(), nil
		}
	}
	return n.version1()
}

// niftiFields has the fields of both versions. Their offsets differ.
type niftiFields struct {
	size             volume.Vec
	times            int // 0: no axis of time
	datatype, bitpix uint16
	spacing, origin  [3]float64
	unit             Unit
	units            byte // xyzt_units; 0: unknown
	intent           uint16
	description      string // at most 79 bytes
}

// niftiUnits has the codes of units. There is none for nm.
var niftiUnits = map[Unit]byte{Micrometre: nifti.UnitMicron, Millimetre: nifti.UnitMM}

func describeNIfTI(a Array) (niftiFields, error) {
	g := a.Grid
	n := niftiFields{size: g.Size, times: a.Times, datatype: nifti.Datatype(g.Type), bitpix: uint16(8 * g.VoxelBytes())}
	switch {
	case a.isRGB():
		n.datatype = nifti.RGB24
	case g.Channels > 1:
		return n, &Unrepresentable{"NIfTI", fmt.Sprintf("%d interleaved channels of %v", g.Channels, g.Type)}
	}
	var calibrated bool
	n.unit = cmp.Or(a.Unit, Millimetre)
	if n.spacing, n.origin, calibrated = a.world(n.unit); calibrated {
		n.units = niftiUnits[n.unit]
	}
	if a.Category == "segmentation" {
		n.intent = nifti.IntentLabel
	}
	n.description = cut(oneLine(a.Name), 79)
	return n, nil
}

// version1 returns the header as in nifti1.h: 348 bytes, and 4 bytes of extension flags, which are 0.
func (n niftiFields) version1() ([]byte, error) {
	for axis := range n.spacing {
		for _, v := range [...]float64{n.spacing[axis], n.origin[axis]} {
			if f := float32(v); math.IsInf(float64(f), 0) || (f == 0) != (v == 0) {
				return nil, &Unrepresentable{"NIfTI", fmt.Sprintf("%g %s does not fit a 32-bit float", v, n.unit)}
			}
		}
	}
	h := make([]byte, Align)
	le := binary.LittleEndian
	float := func(at int, v float64) { le.PutUint32(h[at:], math.Float32bits(float32(v))) }

	le.PutUint32(h[0:], nifti.Size1) // sizeof_hdr
	for i, extent := range n.dim() { // dim[8]
		le.PutUint16(h[40+2*i:], uint16(extent))
	}
	le.PutUint16(h[68:], n.intent)   // intent_code
	le.PutUint16(h[70:], n.datatype) // datatype
	le.PutUint16(h[72:], n.bitpix)   // bitpix
	for i, v := range n.pixdim() {   // pixdim[8]
		float(76+4*i, v)
	}
	float(108, Align)                        // vox_offset
	h[123] = n.units                         // xyzt_units
	copy(h[148:228], n.description)          // descrip[80]
	le.PutUint16(h[252:], nifti.ScannerAnat) // qform_code
	le.PutUint16(h[254:], nifti.ScannerAnat) // sform_code
	for axis := range n.spacing {
		float(268+4*axis, n.origin[axis])          // qoffset_x, _y, _z
		float(280+16*axis+4*axis, n.spacing[axis]) // srow_x[0], srow_y[1], srow_z[2]
		float(280+16*axis+12, n.origin[axis])      // srow_x[3], srow_y[3], srow_z[3]
	}
	copy(h[344:], nifti.Magic1) // magic
	return h, nil
}

// version2 returns the header as in nifti2.h: 540 bytes, and 4 bytes of extension flags, which are 0.
func (n niftiFields) version2() []byte {
	h := make([]byte, Align)
	le := binary.LittleEndian
	float := func(at int, v float64) { le.PutUint64(h[at:], math.Float64bits(v)) }

	le.PutUint32(h[0:], nifti.Size2) // sizeof_hdr
	copy(h[4:], nifti.Magic2)        // magic
	le.PutUint16(h[12:], n.datatype) // datatype
	le.PutUint16(h[14:], n.bitpix)   // bitpix
	for i, extent := range n.dim() { // dim[8]
		le.PutUint64(h[16+8*i:], uint64(extent))
	}
	for i, v := range n.pixdim() { // pixdim[8]
		float(104+8*i, v)
	}
	le.PutUint64(h[168:], Align)             // vox_offset
	copy(h[240:320], n.description)          // descrip[80]
	le.PutUint32(h[344:], nifti.ScannerAnat) // qform_code
	le.PutUint32(h[348:], nifti.ScannerAnat) // sform_code
	for axis := range n.spacing {
		float(376+8*axis, n.origin[axis])          // qoffset_x, _y, _z
		float(400+32*axis+8*axis, n.spacing[axis]) // srow_x[0], srow_y[1], srow_z[2]
		float(400+32*axis+24, n.origin[axis])      // srow_x[3], srow_y[3], srow_z[3]
	}
	le.PutUint32(h[500:], uint32(n.units))  // xyzt_units
	le.PutUint32(h[504:], uint32(n.intent)) // intent_code
	return h
}

// dim returns the number of axes and their sizes. Unused axes have size 1.
func (n niftiFields) dim() [8]int {
	axes := 3
	if n.times > 0 {
		axes = 4
	}
	return [8]int{axes, n.size[0], n.size[1], n.size[2], max(n.times, 1), 1, 1, 1}
}

// pixdim returns qfac and the spacing. A qfac of 1 means that the axes are right-handed.
func (n niftiFields) pixdim() [8]float64 {
	return [8]float64{1, n.spacing[0], n.spacing[1], n.spacing[2], 1, 1, 1, 1}
}
