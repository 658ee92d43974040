package web

import (
	"encoding/binary"
	"math"
)

// maxVoxelBytes is how many bytes a voxel may have, with all its channels.
const maxVoxelBytes = 1 << 10

// voxelType is how a value is stored, little-endian.
type voxelType struct {
	bytes   int
	integer bool
	value   func([]byte) float64
}

var le = binary.LittleEndian

// voxelTypes are all types of voxels, by numpy's names.
var voxelTypes = map[string]voxelType{
	"uint8":   {1, true, func(b []byte) float64 { return float64(b[0]) }},
	"uint16":  {2, true, func(b []byte) float64 { return float64(le.Uint16(b)) }},
	"uint32":  {4, true, func(b []byte) float64 { return float64(le.Uint32(b)) }},
	"uint64":  {8, true, func(b []byte) float64 { return float64(le.Uint64(b)) }},
	"int8":    {1, true, func(b []byte) float64 { return float64(int8(b[0])) }},
	"int16":   {2, true, func(b []byte) float64 { return float64(int16(le.Uint16(b))) }},
	"int32":   {4, true, func(b []byte) float64 { return float64(int32(le.Uint32(b))) }},
	"int64":   {8, true, func(b []byte) float64 { return float64(int64(le.Uint64(b))) }},
	"float32": {4, false, func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }},
	"float64": {8, false, func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }},
}

// id reads an integer of 1, 2, 4 or 8 bytes as its bits.
func id(b []byte) uint64 {
	var wide [8]byte
	copy(wide[:], b)
	return le.Uint64(wide[:])
}
