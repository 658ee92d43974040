package tree

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// levels are the letters of the levels of an index of cubes or blocks: the slowest axis first.
const levels = "zyx"

// LevelName returns the name of entry n at a level of an index: z0 at level 0, y0 at 1, x0 at 2.
func LevelName(level, n int) string { return levels[level:level+1] + strconv.Itoa(n) }

// ParseLevel parses a name that [LevelName] returns. It rejects numbers with a sign or a leading zero.
func ParseLevel(level int, name string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(name, levels[level:level+1])
	if !ok {
		return 0, false
	}
	return volume.ParseIndex(digits)
}

// CubePath returns the path of a cube in its mag, z0/y0/x0.raw. c is in cubes.
func CubePath(c volume.Vec) string {
	return path.Join(LevelName(0, c[2]), LevelName(1, c[1]), LevelName(2, c[0])+Raw)
}

// SliceName returns the name of a plane in [Slices]. z is in absolute voxels of the mag. The bytes of names have the
// order of z, from −10^13 to 10^7 − 1:
//
//	z--9999989999999_-10000001.tif    z < −10^7: 10^13 + z, then z
//	z-9999998_-2.tif                  z < 0: 10^7 + z, then z
//	z0000000.tif                      z ≥ 0: z
func SliceName(z int) string {
	switch {
	case z >= 0:
		return oldSliceName(z)
	case z >= -1e7:
		return fmt.Sprintf("z-%07d_%d", 1e7+z, z) + TIFF
	}
	return fmt.Sprintf("z--%013d_%d", 1e13+z, z) + TIFF
}

// oldSliceName returns the name that planes had when names of negative z did not sort.
func oldSliceName(z int) string { return fmt.Sprintf("z%07d", z) + TIFF }

// ParseSlice parses a name that [SliceName] returns. It also parses the old name of a plane with negative z,
// z-000002.tif, which no listing has.
func ParseSlice(name string) (z int, ok bool) {
	if _, number, isNegative := strings.Cut(name, "_"); isNegative {
		_, err := fmt.Sscanf(number, "%d"+TIFF, &z)
		return z, err == nil && SliceName(z) == name
	}
	_, err := fmt.Sscanf(name, "z%d"+TIFF, &z)
	return z, err == nil && oldSliceName(z) == name
}

// BoxName returns the name of a box, without a suffix: X0-X1_Y0-Y1_Z0-Z1, half open, in absolute voxels
// of the mag.
func BoxName(b volume.Box) string { return b.String() }

// ParseBox parses a name that [BoxName] returns. It rejects empty boxes, and positions beyond ±2^40,
// so that arithmetic with the box cannot overflow.
func ParseBox(name string) (b volume.Box, ok bool) {
	n, err := fmt.Sscanf(name, "%d-%d_%d-%d_%d-%d", &b.Min[0], &b.Max[0], &b.Min[1], &b.Max[1], &b.Min[2], &b.Max[2])
	if err != nil || n != 6 || BoxName(b) != name || b.Empty() {
		return b, false
	}
	const limit = 1 << 40
	valid := volume.Box{Min: volume.Cube(-limit), Max: volume.Cube(limit)}
	return b, b.Intersect(valid) == b
}
