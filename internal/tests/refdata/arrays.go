package refdata

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// ArrayManifest is manifest.json of the arrays of Zarr and N5. The README.md beside it explains the fields.
type ArrayManifest struct {
	Arrays   []Array
	Damaged  []Array // one thing is broken in each
	Datasets []struct{ Dataset string }
}

// Array is an array that another program wrote. Positions and sizes are x, y, z, in voxels.
type Array struct {
	Path                string // of its directory
	Dataset, Layer, Mag string
	Format              string // zarr2, zarr3, n5, wkw or precomputed
	Expect              string // ok, unsupported or error
	Optional            bool   // it may be unsupported
	DType               string
	StoredType          string `json:"dtype_stored"`
	Channels            int
	Size                [3]int
	TopLeft             [3]int   `json:"top_left"`
	Axes                []string // in the order of the array
	Chunk               [3]int
	Shard               *[3]int  // nil: chunks are files
	SHA256              string   // of the flat volume
	ConfirmedBy         []string `json:"confirmed_by"` // other programs that read the same voxels
	Voxels              []Voxel
	OME, N5             *Resolution

	// Only of damaged arrays.

	Case       string
	Scope      string // array, group, dataset: it cannot be opened; others: the boxes cannot be read
	RestSHA256 string `json:"sha256_rest"` // of the flat volume with 0 in the boxes
	BadBoxes   []Box  `json:"bad_boxes"`
}

// Voxel is a voxel whose bytes are known.
type Voxel struct {
	At  [3]int
	Hex string // little-endian
}

// Box is a box of voxels.
type Box struct{ At, Size [3]int }

// Contains reports whether a voxel is in the box.
func (b Box) Contains(at [3]int) bool {
	for axis, n := range at {
		if n < b.At[axis] || n >= b.At[axis]+b.Size[axis] {
			return false
		}
	}
	return true
}

// IsBad reports whether a voxel of a damaged array cannot be read.
func (a Array) IsBad(at [3]int) bool {
	for _, b := range a.BadBoxes {
		if b.Contains(at) {
			return true
		}
	}
	return false
}

// Resolution is the place of an array in the world, by the metadata of its group.
type Resolution struct {
	Factor      [3]int
	Scale       [3]float64 // size of a voxel
	Translation [3]float64
	Unit        string
}

// Arrays returns the arrays of Zarr and N5, and the directory that their paths are in.
func Arrays(t testing.TB) (root string, m ArrayManifest) {
	t.Helper()
	root = Dir(t, "zarr")
	b, err := os.ReadFile(filepath.Join(root, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return root, m
}

// Stored returns voxels that are shown as the manifest has them: floats of 16 bits, which are shown as those of 32, are
// the former again.
func (a Array) Stored(voxels []byte) []byte {
	if a.DType != "float16" {
		return voxels
	}
	var halves []byte
	for ; len(voxels) >= 4; voxels = voxels[4:] {
		bits := binary.LittleEndian.Uint32(voxels)
		half, exponent := uint16(bits>>16&0x8000), bits>>23&0xff
		switch f := math.Abs(float64(math.Float32frombits(bits))); {
		case exponent == 0xff:
			half |= 0x7c00 | uint16(bits>>13&0x3ff)
		case f < 0x1p-14:
			half |= uint16(f * 0x1p24)
		default:
			half |= uint16((exponent-112)<<10 | bits>>13&0x3ff)
		}
		halves = binary.LittleEndian.AppendUint16(halves, half)
	}
	return halves
}
