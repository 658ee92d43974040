package header

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// niftiTypes are the DT_ codes; they are the same in both versions.
var niftiTypes = map[volume.Type]uint16{
	volume.Uint8: 2, volume.Int16: 4, volume.Int32: 8, volume.Float32: 16, volume.Float64: 64,
	volume.Int8: 256, volume.Uint16: 512, volume.Uint32: 768, volume.Int64: 1024, volume.Uint64: 1280,
}

const (
	niftiRGB24       = 128  // DT_RGB24
	niftiLabels      = 1002 // NIFTI_INTENT_LABEL
	niftiMM          = 2    // NIFTI_UNITS_MM
	niftiScannerAnat = 1    // NIFTI_XFORM_SCANNER_ANAT: the instrument's coordinates
)

// NIfTI returns the header of a single-file NIfTI-1 image, or of NIfTI-2 where an
// axis has more than 32767 voxels. Voxels start at [Align].
//
// Spacing and place are in mm: µm exist, but ITK converts only the spacing from them.
// They are given twice, as qform and as sform. NIfTI's axes point right, anterior and superior; ours have no
// such meaning and are mapped onto them one by one. Interleaved channels exist
// only as RGB24.
func NIfTI(a Array) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	n, err := describeNIfTI(a)
	if err != nil {
		return nil, err
	}
	for _, extent := range n.size {
		if extent > math.MaxInt16 {
			return n.version2(), nil
		}
	}
	return n.version1()
}

// nifti is what both versions say, each at offsets of its own.
type nifti struct {
	size             volume.Vec
	datatype, bitpix uint16
	spacing, origin  [3]float64
	units            byte
	intent           uint16
	description      string // at most 79 bytes
}

func describeNIfTI(a Array) (nifti, error) {
	g := a.Grid
	n := nifti{size: g.Size, datatype: niftiTypes[g.Type], bitpix: uint16(8 * g.VoxelBytes())}
	switch {
	case a.rgb():
		n.datatype = niftiRGB24
	case g.Channels > 1:
		return n, &Unrepresentable{"NIfTI", fmt.Sprintf("%d interleaved channels of %v", g.Channels, g.Type)}
	}
	var known bool
	if n.spacing, n.origin, known = a.world(1e6); known {
		n.units = niftiMM
	}
	if a.Category == "segmentation" {
		n.intent = niftiLabels
	}
	n.description = cut(oneLine(a.Name), 79)
	return n, nil
}

// version1 lays the header out as nifti1.h has it: 348 bytes and 4 of extension
// flags, all 0.
func (n nifti) version1() ([]byte, error) {
	for axis := range n.spacing {
		for _, v := range [...]float64{n.spacing[axis], n.origin[axis]} {
			if f := float32(v); math.IsInf(float64(f), 0) || (f == 0) != (v == 0) {
				return nil, &Unrepresentable{"NIfTI", fmt.Sprintf("%g mm is no 32-bit float", v)}
			}
		}
	}
	h := make([]byte, Align)
	le := binary.LittleEndian
	float := func(at int, v float64) { le.PutUint32(h[at:], math.Float32bits(float32(v))) }

	le.PutUint32(h[0:], 348)         // sizeof_hdr
	for i, extent := range n.dim() { // dim[8]
		le.PutUint16(h[40+2*i:], uint16(extent))
	}
	le.PutUint16(h[68:], n.intent)   // intent_code
	le.PutUint16(h[70:], n.datatype) // datatype
	le.PutUint16(h[72:], n.bitpix)   // bitpix
	for i, v := range n.pixdim() {   // pixdim[8]
		float(76+4*i, v)
	}
	float(108, Align)                       // vox_offset
	h[123] = n.units                        // xyzt_units
	copy(h[148:228], n.description)         // descrip[80]
	le.PutUint16(h[252:], niftiScannerAnat) // qform_code
	le.PutUint16(h[254:], niftiScannerAnat) // sform_code
	for axis := range n.spacing {
		float(268+4*axis, n.origin[axis])          // qoffset_x, _y, _z
		float(280+16*axis+4*axis, n.spacing[axis]) // srow_x[0], srow_y[1], srow_z[2]
		float(280+16*axis+12, n.origin[axis])      // srow_x[3], srow_y[3], srow_z[3]
	}
	copy(h[344:], "n+1\x00") // magic
	return h, nil
}

// version2 lays the header out as nifti2.h has it: 540 bytes and 4 of extension
// flags, all 0.
func (n nifti) version2() []byte {
	h := make([]byte, Align)
	le := binary.LittleEndian
	float := func(at int, v float64) { le.PutUint64(h[at:], math.Float64bits(v)) }

	le.PutUint32(h[0:], 540)         // sizeof_hdr
	copy(h[4:], "n+2\x00\r\n\x1a\n") // magic
	le.PutUint16(h[12:], n.datatype) // datatype
	le.PutUint16(h[14:], n.bitpix)   // bitpix
	for i, extent := range n.dim() { // dim[8]
		le.PutUint64(h[16+8*i:], uint64(extent))
	}
	for i, v := range n.pixdim() { // pixdim[8]
		float(104+8*i, v)
	}
	le.PutUint64(h[168:], Align)            // vox_offset
	copy(h[240:320], n.description)         // descrip[80]
	le.PutUint32(h[344:], niftiScannerAnat) // qform_code
	le.PutUint32(h[348:], niftiScannerAnat) // sform_code
	for axis := range n.spacing {
		float(376+8*axis, n.origin[axis])          // qoffset_x, _y, _z
		float(400+32*axis+8*axis, n.spacing[axis]) // srow_x[0], srow_y[1], srow_z[2]
		float(400+32*axis+24, n.origin[axis])      // srow_x[3], srow_y[3], srow_z[3]
	}
	le.PutUint32(h[500:], uint32(n.units))  // xyzt_units
	le.PutUint32(h[504:], uint32(n.intent)) // intent_code
	return h
}

// dim returns the number of axes and their extents; the unused ones are 1.
func (n nifti) dim() [8]int { return [8]int{3, n.size[0], n.size[1], n.size[2], 1, 1, 1, 1} }

// pixdim returns qfac, which says that the axes are right-handed, and the spacing.
func (n nifti) pixdim() [8]float64 {
	return [8]float64{1, n.spacing[0], n.spacing[1], n.spacing[2], 1, 1, 1, 1}
}
