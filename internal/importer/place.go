package importer

import (
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

const (
	// maxCoordinate bounds the place of a layer, so that sums with sizes cannot overflow.
	maxCoordinate = 1 << 40
	// maxSpacing bounds what is believed of a voxel's size, in nm: a kilometre.
	maxSpacing = 1e12
	// offGrid is how far, in voxels, a place may lie beside a whole voxel: headers have
	// numbers of 32 bits.
	offGrid = 0.1
)

// place takes the header's position of voxel 0,0,0 and the distance between voxels, both in
// the same unit. What it cannot be used for is kept in Misplaced.
func (in *Input) place(name string, origin, pitch [3]float64) {
	var at volume.Vec
	for axis := range 3 {
		v := origin[axis] / pitch[axis]
		whole := math.Round(v)
		if !(math.Abs(v-whole) <= offGrid) || math.Abs(whole) > maxCoordinate {
			in.Misplaced = fmt.Errorf("%s: voxel 0,0,0 lies at %v voxels on axis %c, between voxels: %w", name, v, "xyz"[axis], ErrPlace)
			return
		}
		at[axis] = int(whole)
	}
	in.Grid.Origin, in.Placed = at, true
}

// usable returns a spacing in nm, or 0 for one that no voxel has.
func usable(nm float64) float64 {
	if nm > 0 && nm <= maxSpacing {
		return nm
	}
	return 0
}
