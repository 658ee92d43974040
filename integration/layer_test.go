package integration

import (
	"fmt"
	"path/filepath"
	"testing"
)

// layer is a mag with some cubes of one model. All other cubes are absent.
type layer struct {
	model
	min, size [3]int // bounding box
	cubes     map[[3]int]bool
}

// write writes a dataset with one layer, "color", in mag 1.
func (l layer) write(t testing.TB) (source string) {
	t.Helper()
	source = t.TempDir()
	for c := range l.cubes {
		l.model.write(t, filepath.Join(source, "color/1"), c[0], c[1], c[2])
	}
	writeFile(t, filepath.Join(source, "datasource-properties.json"), fmt.Appendf(nil,
		`{"scale":{"factor":[4,5,60],"unit":"nanometer"},"dataLayers":[{"name":"color","category":"color","boundingBox":{"topLeft":[%d,%d,%d],"width":%d,"height":%d,"depth":%d}}]}`,
		l.min[0], l.min[1], l.min[2], l.size[0], l.size[1], l.size[2]))
	return source
}

// box returns the voxels of a box. Voxels of absent cubes and outside of the layer are zeros.
func (l layer) box(lo, hi [3]int) []byte {
	var b []byte
	for z := lo[2]; z < hi[2]; z++ {
		for y := lo[1]; y < hi[1]; y++ {
			for x := lo[0]; x < hi[0]; x++ {
				b = append(b, l.voxel(x, y, z)...)
			}
		}
	}
	return b
}

// voxel returns the bytes of one voxel.
func (l layer) voxel(x, y, z int) []byte {
	v := make([]byte, l.voxelSize())
	for axis, at := range [3]int{x, y, z} {
		if at < l.min[axis] || at >= l.min[axis]+l.size[axis] {
			return v
		}
	}
	s := l.side()
	if l.cubes[[3]int{x / s, y / s, z / s}] {
		for i := range v {
			v[i] = l.byteAt(x%s, y%s, z%s, i)
		}
	}
	return v
}

// overlaps reports whether a box has a voxel of the bounding box.
func (l layer) overlaps(lo, hi [3]int) bool {
	for axis := range 3 {
		if hi[axis] <= l.min[axis] || lo[axis] >= l.max()[axis] {
			return false
		}
	}
	return true
}

// max returns the upper corner of the bounding box.
func (l layer) max() [3]int {
	return [3]int{l.min[0] + l.size[0], l.min[1] + l.size[1], l.min[2] + l.size[2]}
}

// sparse has four cubes of 16³ voxels, and a bounding box that is not aligned to blocks.
var sparse = layer{
	model: model{blockLog: 2, cubeLog: 2, blockType: 2, voxelType: 2, channels: 1},
	min:   [3]int{5, 3, 2},
	size:  [3]int{50, 40, 70},
	cubes: map[[3]int]bool{{0, 0, 0}: true, {2, 1, 0}: true, {1, 2, 1}: true, {3, 0, 4}: true},
}

// holey is a tall layer in which most rows of cubes are absent.
var holey = layer{
	model: model{blockLog: 4, cubeLog: 2, blockType: 2, voxelType: 1, channels: 1}, // cubes of 64³
	size:  [3]int{64, 64 * 40, 64 * 5},
	cubes: map[[3]int]bool{{0, 3, 1}: true, {0, 4, 1}: true, {0, 25, 1}: true, {0, 0, 3}: true},
}
