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
)

// array is a mag in a mount, or a part of one, of which everything is known without
// the program.
type array struct {
	name      string // in words
	dir       string // the mag in the mount
	dtype     string // numpy's name
	channels  int
	min, size [3]int    // voxels
	nm        []float64 // of a voxel, x y z; nil: unknown
	voxels    []byte    // flat
	samples   []sample
	cubes     map[string]array // by their path below the mag: some of them
}

// sample is a voxel whose values were written down.
type sample struct {
	at    [3]int // as min
	value []json.Number
}

var typeBytes = map[string]int{
	"uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4, "int32": 4, "uint64": 8, "int64": 8, "float32": 4, "float64": 8,
}

func (a array) max() [3]int {
	return [3]int{a.min[0] + a.size[0], a.min[1] + a.size[1], a.min[2] + a.size[2]}
}

// part is the voxels of a box, zeros outside of the array.
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

// voxel returns the n bytes of a voxel.
func (a array) voxel(x, y, z, n int) []byte {
	if x < 0 || y < 0 || z < 0 || x >= a.size[0] || y >= a.size[1] || z >= a.size[2] {
		return make([]byte, n)
	}
	i := n * (x + a.size[0]*(y+a.size[1]*z))
	return a.voxels[i : i+n]
}

// boxes are one inside, aligned to nothing, and one that reaches out, perhaps below 0.
func (a array) boxes() [][2][3]int {
	lo, hi := a.min, a.max()
	return [][2][3]int{
		{{lo[0] + 1, lo[1] + 2, lo[2] + 3}, {hi[0] - 3, hi[1] - 2, hi[2] - 1}},
		{{lo[0] - 2, lo[1] - 1, lo[2] - 3}, {lo[0] + a.size[0]/2, hi[1] + 1, lo[2] + 2}},
	}
}

// referenceArrays mounts all reference data. What the arrays are comes from its
// manifests and properties; of the voxels, the manifests have the hash.
func referenceArrays(t *testing.T) []array {
	t.Helper()
	root, err := findRefdata()
	if err != nil {
		t.Log("models alone, without reference data: ", err)
		return nil
	}
	dirs := map[string]string{}
	var all []array
	for _, folder := range []string{"wkw", "l4_sample", "annotation"} {
		for _, r := range references(t, filepath.Join(root, folder)) {
			source := filepath.Join(root, folder, r.Dataset)
			if dirs[source] == "" {
				dirs[source] = mount(t, source)
			}
			a := array{
				name: filepath.Join(folder, r.Dataset, r.Layer, r.Mag), dir: filepath.Join(dirs[source], r.Layer, r.Mag),
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
			all = append(all, a)
		}
	}
	return all
}

// referenceCubes are the cubes of a mag, but for those that take long to hash.
func referenceCubes(t *testing.T, a array, r reference) map[string]array {
	t.Helper()
	cubes := map[string]array{}
	for name, c := range r.Cubes {
		if c.Bytes > 4<<20 {
			continue
		}
		var at [3]int // counted in cubes
		if _, err := fmt.Sscanf(name, "z%d/y%d/x%d", &at[2], &at[1], &at[0]); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		voxels := readHashed(t, filepath.Join(a.dir, name+".raw"), c.SHA256)
		cubes[name+".raw"] = a.cube(at, r.Cube, voxels)
	}
	return cubes
}

// cube is the cube at a place that is counted in cubes.
func (a array) cube(at [3]int, side int, voxels []byte) array {
	a.min, a.size = [3]int{at[0] * side, at[1] * side, at[2] * side}, [3]int{side, side, side}
	a.voxels, a.samples, a.cubes = voxels, nil, nil
	return a
}

// readHashed reads a file, which has to have a hash.
func readHashed(t *testing.T, path, hash string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || sum(b) != hash {
		t.Fatalf("%s: the voxels are not those of the manifest; error %v", path, err)
	}
	return b
}

// spacing reads nm per voxel of a mag from the properties; nil where there are none.
// They come in two forms, an object with a unit and a list that is in nm.
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
	var times [3]float64
	if _, err := fmt.Sscanf(mag, "%g-%g-%g", &times[0], &times[1], &times[2]); err != nil {
		if _, err := fmt.Sscanf(mag, "%g", &times[0]); err != nil {
			t.Fatal(err)
		}
		times = [3]float64{times[0], times[0], times[0]}
	}
	return []float64{nm[0] * times[0], nm[1] * times[1], nm[2] * times[2]}
}

// modelArrays mounts layers with absent cubes, in a box aligned to nothing, of what
// image data mostly are.
func modelArrays(t *testing.T) []array {
	t.Helper()
	var all []array
	for _, kind := range []struct {
		voxelType, channels int
		dtype               string
	}{{1, 1, "uint8"}, {1, 3, "uint8"}, {2, 1, "uint16"}, {3, 1, "uint32"}, {5, 1, "float32"}} {
		l := sparse
		l.voxelType, l.channels = kind.voxelType, kind.channels
		a := array{
			name: fmt.Sprintf("model/%s×%d", kind.dtype, kind.channels), dir: filepath.Join(mount(t, l.write(t)), "color/1"),
			dtype: kind.dtype, channels: kind.channels, min: l.min, size: l.size, nm: []float64{4, 5, 60}, voxels: l.box(l.min, l.max()),
		}
		a.cubes = map[string]array{"z4/y0/x3.raw": a.cube([3]int{3, 0, 4}, l.side(), l.flat())}
		all = append(all, a)
	}
	return all
}

// finite reports whether all values are, of float32.
func (a array) finite() bool {
	for i := 0; a.dtype == "float32" && i < len(a.voxels); i += 4 {
		if f := float64(math.Float32frombits(binary.LittleEndian.Uint32(a.voxels[i:]))); math.IsNaN(f) || math.IsInf(f, 0) {
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
