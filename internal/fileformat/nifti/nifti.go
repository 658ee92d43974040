// Package nifti has the numbers of NIfTI-1 and NIfTI-2 that the writer in package header and the reader in package
// arrayfile share.
package nifti

import "github.com/wkwfs/wkwfs/volume"

// Numbers from nifti1.h and nifti2.h.
const (
	RGB24       = 128  // DT_RGB24, a datatype: three interleaved channels of uint8
	RGBA32      = 2304 // DT_RGBA32, a datatype: four interleaved channels of uint8
	UnitMetre   = 1    // NIFTI_UNITS_METER
	UnitMM      = 2    // NIFTI_UNITS_MM
	UnitMicron  = 3    // NIFTI_UNITS_MICRON
	IntentLabel = 1002 // NIFTI_INTENT_LABEL
	ScannerAnat = 1    // NIFTI_XFORM_SCANNER_ANAT: the coordinates of the instrument
	Size1       = 348  // sizeof_hdr of version 1
	Size2       = 540  // sizeof_hdr of version 2
	Magic1      = "n+1\x00"
	Magic2      = "n+2\x00\r\n\x1a\n"
)

// datatypes has the DT_ codes.
var datatypes = map[volume.Type]uint16{
	volume.Uint8: 2, volume.Int16: 4, volume.Int32: 8, volume.Float32: 16, volume.Float64: 64,
	volume.Int8: 256, volume.Uint16: 512, volume.Uint32: 768, volume.Int64: 1024, volume.Uint64: 1280,
}

// Datatype returns the datatype of a valid type.
func Datatype(t volume.Type) uint16 { return datatypes[t] }

// ParseDatatype returns the type with the datatype. ok is false if there is none, as for [RGB24].
func ParseDatatype(code uint16) (t volume.Type, ok bool) {
	for t, c := range datatypes {
		if c == code {
			return t, true
		}
	}
	return 0, false
}
