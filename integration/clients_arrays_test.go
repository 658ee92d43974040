//go:build clients

package integration

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// array is a mag in a mount, or a part of one, described without the program.
type array struct {
	name      string // for messages
	dir       string // the mag in the mount
	dtype     string // numpy's name
	channels  int
	min, size [3]int           // in voxels
	nm        []float64        // size of a voxel in x, y, z; nil: unknown
	voxels    []byte           // flat
	samples   []sample         // voxels with known values
	cubes     map[string]array // some of the cubes, by their path in the mag
}

// sample is a voxel whose values the manifest has.
type sample struct {
	at    [3]int // voxel of the mag, as min
	value []json.Number
}

var typeBytes = map[string]int{
	"uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4, "int32": 4, "uint64": 8, "int64": 8, "float32": 4,
	"float64": 8,
}

func (a array) max() [3]int {
	return [3]int{a.min[0] + a.size[0], a.min[1] + a.size[1], a.min[2] + a.size[2]}
}

// part returns the voxels of a box, with zeros outside of the array.
func (a array) part(lo, hi [3]int) array {
	n := typeBytes[a.dtype] * a.channels
	b := make([]byte, 0, (hi[0]-lo[0])*(hi[1]-lo[1])*(hi[2]-lo[2])*n)
	for z := lo[2]; z < hi[2]; z++ {
		for y := lo[1]; y < hi[1]; y++ {
			for x := lo[0]; x < hi[0]; x++ {
				b = append(b, a.voxel(x-a.min[0], y-a.min[1], z-a.min[2], n)...)
			}
		}
	}
	a.min, a.size = lo, [3]int{hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]}
	a.voxels, a.samples, a.cubes = b, nil, nil
	return a
}

// voxel returns the n bytes of a voxel, with x, y, z counted from a.min.
func (a array) voxel(x, y, z, n int) []byte {
	if x < 0 || y < 0 || z < 0 || x >= a.size[0] || y >= a.size[1] || z >= a.size[2] {
		return make([]byte, n)
	}
	i := n * (x + a.size[0]*(y+a.size[1]*z))
	return a.voxels[i : i+n]
}

// boxes returns two boxes: one inside the array that is not aligned to blocks, and one that extends out of it,
// perhaps below 0.
func (a array) boxes() [][2][3]int {
	lo, hi := a.min, a.max()
	return [][2][3]int{
		{{lo[0] + 1, lo[1] + 2, lo[2] + 3}, {hi[0] - 3, hi[1] - 2, hi[2] - 1}},
		{{lo[0] - 2, lo[1] - 1, lo[2] - 3}, {lo[0] + a.size[0]/2, hi[1] + 1, lo[2] + 2}},
	}
}

// referenceArrays mounts all reference data. The manifests and datasource-properties.json describe the arrays.
// The voxels have to match the hashes of the manifests.
func referenceArrays(t *testing.T) []array {
	t.Helper()
	dirs := map[string]string{}
	var arrays []array
	for _, folder := range refdata.WKW() {
		root := refdata.Dir(t, folder)
		for _, r := range references(t, root) {
			source := filepath.Join(root, r.Dataset)
			if dirs[source] == "" {
				dirs[source] = mount(t, source)
			}
			a := array{
				name: filepath.Join(folder, r.Dataset, r.Layer, r.Mag), dir: filepath.Join(dirs[source], r.Layer,
					r.Mag),
				dtype: r.Dtype, channels: r.Channels, min: r.TopLeft, size: r.Size, nm: spacing(t, source, r.Mag),
			}
			switch r.Dtype {
			case "float":
				a.dtype = "float32"
			case "double":
				a.dtype = "float64"
			}
			a.voxels = readHashed(t, filepath.Join(a.dir, "volume.raw"), r.Volume.SHA256)
			a.cubes = referenceCubes(t, a, r)
			for _, v := range r.Volume.Voxels {
				a.samples = append(a.samples, sample{v.At, v.Value})
			}
			arrays = append(arrays, a)
		}
	}
	return arrays
}

// referenceCubes returns the cubes of a mag, except large ones, which take long to hash.
func referenceCubes(t *testing.T, a array, r reference) map[string]array {
	t.Helper()
	cubes := map[string]array{}
	for name, c := range r.Cubes {
		if c.Bytes > 4<<20 {
			continue
		}
		var at [3]int // in cubes
		if _, err := fmt.Sscanf(name, "z%d/y%d/x%d", &at[2], &at[1], &at[0]); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		voxels := readHashed(t, filepath.Join(a.dir, name+".raw"), c.SHA256)
		cubes[name+".raw"] = a.cube(at, r.Cube, voxels)
	}
	return cubes
}

// cube returns the array of the cube at a position in cubes.
func (a array) cube(at [3]int, side int, voxels []byte) array {
	a.min, a.size = [3]int{at[0] * side, at[1] * side, at[2] * side}, [3]int{side, side, side}
	a.voxels, a.samples, a.cubes = voxels, nil, nil
	return a
}

// readHashed reads a file that must have the given hash.
func readHashed(t *testing.T, path, hash string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || sum(b) != hash {
		t.Fatalf("%s: the voxels are not those of the manifest; error %v", path, err)
	}
	return b
}

// spacing reads the voxel size of a mag in nm from datasource-properties.json. It returns nil if that does not
// exist. The scale is either an object with a unit, or a list in nm.
func spacing(t *testing.T, source, mag string) []float64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(source, "datasource-properties.json"))
	if os.IsNotExist(err) {
		return nil
	}
	var properties struct{ Scale json.RawMessage }
	if err := json.Unmarshal(b, &properties); err != nil {
		t.Fatal(err)
	}
	var nm []float64
	if json.Unmarshal(properties.Scale, &nm) != nil {
		var scale struct {
			Factor []float64
			Unit   string
		}
		if err := json.Unmarshal(properties.Scale, &scale); err != nil || scale.Unit != "nanometer" {
			t.Fatalf("%s: scale %s: %v", source, properties.Scale, err)
		}
		nm = scale.Factor
	}
	var factor [3]float64
	if _, err := fmt.Sscanf(mag, "%g-%g-%g", &factor[0], &factor[1], &factor[2]); err != nil {
		if _, err := fmt.Sscanf(mag, "%g", &factor[0]); err != nil {
			t.Fatal(err)
		}
		factor = [3]float64{factor[0], factor[0], factor[0]}
	}
	return []float64{nm[0] * factor[0], nm[1] * factor[1], nm[2] * factor[2]}
}

// modelArrays mounts layers of the most common voxel types. They have absent cubes, and boxes that are not
// aligned to blocks.
func modelArrays(t *testing.T) []array {
	t.Helper()
	var arrays []array
	for _, kind := range []struct {
		voxelType, channels int
		dtype               string
	}{{1, 1, "uint8"}, {1, 3, "uint8"}, {1, 4, "uint8"}, {2, 1, "uint16"}, {3, 1, "uint32"}, {5, 1, "float32"}} {
		l := sparse
		l.voxelType, l.channels = kind.voxelType, kind.channels
		a := array{
			name: fmt.Sprintf("model/%s×%d", kind.dtype, kind.channels), dir: filepath.Join(mount(t, l.write(t)),
				"color/1"),
			dtype: kind.dtype, channels: kind.channels, min: l.min, size: l.size, nm: []float64{4, 5, 60},
			voxels: l.box(l.min, l.max()),
		}
		a.cubes = map[string]array{"z4/y0/x3.raw": a.cube([3]int{3, 0, 4}, l.side(), l.flat())}
		arrays = append(arrays, a)
	}
	return arrays
}

// finite reports whether an array of float32 has only finite values. For other types it returns true.
func (a array) finite() bool {
	for i := 0; a.dtype == "float32" && i < len(a.voxels); i += 4 {
		if f := float64(math.Float32frombits(binary.LittleEndian.Uint32(a.voxels[i:]))); math.IsNaN(f) ||
			math.IsInf(f, 0) {
			return false
		}
	}
	return true
}

func unsignedFloats(b []byte) []byte {
	return floats(b, func(v uint32) float32 { return float32(v) })
}

func signedFloats(b []byte) []byte {
	return floats(b, func(v uint32) float32 { return float32(int32(v)) })
}

func floats(b []byte, convert func(uint32) float32) []byte {
	f := make([]byte, 0, len(b))
	for ; len(b) > 0; b = b[4:] {
		f = binary.LittleEndian.AppendUint32(f, math.Float32bits(convert(binary.LittleEndian.Uint32(b))))
	}
	return f
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
