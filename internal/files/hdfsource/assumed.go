package hdfsource

import (
	"cmp"
	"fmt"
	"strings"
)

// assumed says how a dataset was understood: the order of its axes, and where the size of voxels comes from. HDF5
// itself says neither.
func assumed(named axisNames, a axes, p position) string {
	order := make([]string, 0, 5)
	for i := range 32 { // the highest rank
		for axis, name := range []string{"x", "y", "z"} {
			if a.space[axis] == i {
				order = append(order, name)
			}
		}
		if a.channel == i {
			order = append(order, "c")
		}
		if a.time == i {
			order = append(order, "t")
		}
	}
	return fmt.Sprintf("axes %s, slowest first, by %s; voxel size by %s", strings.Join(order, ", "),
		cmp.Or(named.from, "habit: none are named"), cmp.Or(p.from, "nothing: it is unknown"))
}
