// Package nrrd has the names of NRRD. Package header writes them, and package arrayfile reads them.
package nrrd

import (
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// Magic is the start of an NRRD file. A digit for the version of the format follows it.
const Magic = "NRRD000"

// typeNames has the names of each type, from "Definition of NRRD File Format", "type". The first name is the one to
// write.
var typeNames = map[volume.Type][]string{
	volume.Uint8:  {"uint8", "uint8_t", "uchar", "unsigned char"},
	volume.Uint16: {"uint16", "uint16_t", "ushort", "unsigned short", "unsigned short int"},
	volume.Uint32: {"uint32", "uint32_t", "uint", "unsigned int"},
	volume.Uint64: {"uint64", "uint64_t", "ulonglong", "unsigned long long", "unsigned long long int"},
	volume.Int8:   {"int8", "int8_t", "signed char"},
	volume.Int16:  {"int16", "int16_t", "short", "short int", "signed short", "signed short int"},
	volume.Int32:  {"int32", "int32_t", "int", "signed int"},
	volume.Int64: {"int64", "int64_t", "longlong", "long long", "long long int", "signed long long",
		"signed long long int"},
	volume.Float32: {"float"},
	volume.Float64: {"double"},
}

// TypeName returns the name of a valid type.
func TypeName(t volume.Type) string { return typeNames[t][0] }

// ParseType returns the type with the name, in upper or lower case. ok is false if there is none.
func ParseType(name string) (t volume.Type, ok bool) {
	for t, names := range typeNames {
		if slices.Contains(names, strings.ToLower(name)) {
			return t, true
		}
	}
	return 0, false
}
