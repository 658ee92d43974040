package n5

import (
	"maps"
	"math"
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// voxel is the size of a voxel on x, y and z, and its unit in nm. A unit that is not known is 0.
type voxel struct{ size, unit [3]float64 }

// same reports whether v and w are equal, but for rounding.
func (v voxel) same(w voxel) bool {
	for axis := range 3 {
		a, b := v.size[axis], w.size[axis]
		if v.unit[axis] > 0 && w.unit[axis] > 0 {
			a, b = a*v.unit[axis], b*w.unit[axis]
		}
		if math.Abs(a-b) > 1e-6*math.Abs(b) {
			return false
		}
	}
	return true
}

// resolution returns where the voxels are by their size: pixelResolution, or resolution, of the array or else of its
// group. The size in a group is that at full resolution. So is the size in an array, multiplied by downsamplingFactors
// (n5-viewer), unless it differs from the size in the group, or in the finest array (OpenOrganelle). isOwn is false if
// nothing tells how coarse the array is.
func (n *node) resolution(group, finest *node) (t chunked.Transform, isOwn bool) {
	factors, isOwn := n.downsampling(group)
	v, found := n.voxel()
	full, isFull := group.voxel()
	if !isFull && finest != n {
		full, isFull = finest.voxel()
	}
	switch {
	case !found && isFull:
		v = full
	case found && isFull && !v.same(full):
		factors, isOwn = [3]float64{1, 1, 1}, true
	}
	offset, ok := n.numbers("offset")
	if !ok {
		offset, _ = group.numbers("offset")
	}
	t.Unit = v.unit
	for axis := range 3 {
		t.Scale[axis] = v.size[axis] * factors[axis]
		t.Translation[axis] = v.size[axis]*(factors[axis]-1)/2 + offset[axis]
	}
	return t, isOwn
}

// numbers returns a list with a number for x, y and z in the attributes. n may be nil.
func (n *node) numbers(name string) ([3]float64, bool) {
	if n == nil || !n.attrs.Has(name) {
		return [3]float64{}, false
	}
	list, err := jsonlimit.List[float64](n.attrs[name], chunked.MaxAxes, "numbers")
	if err != nil || len(list) < 3 {
		return [3]float64{}, false
	}
	return [3]float64(list[:3]), true
}

// voxel returns the size of a voxel in the attributes. If there is none, the size is 1 without a unit. n may be nil.
func (n *node) voxel() (v voxel, ok bool) {
	v.size = [3]float64{1, 1, 1}
	if n == nil {
		return v, false
	}
	for _, name := range []string{"pixelResolution", "resolution"} {
		var withUnit struct {
			Dimensions []float64
			Unit       string
		}
		unit := n.unit()
		list, err := jsonlimit.List[float64](orNull(n.attrs[name]), chunked.MaxAxes, "numbers")
		if err != nil && n.attrs.Get(name, &withUnit) == nil {
			list, unit = withUnit.Dimensions, chunked.Nanometres(withUnit.Unit)
		}
		if len(list) < 2 {
			continue
		}
		for axis := range min(len(list), 3) { // a plane has two
			v.size[axis], v.unit[axis] = list[axis], unit
		}
		return v, true
	}
	return v, false
}

// unit returns the unit of lengths in the attributes, in nm.
func (n *node) unit() float64 {
	units, err := jsonlimit.List[string](orNull(n.attrs["units"]), chunked.MaxAxes, "units")
	if err != nil || len(units) == 0 {
		return 0
	}
	return chunked.Nanometres(units[0])
}

// downsampling returns the size of a voxel in voxels of full resolution: downsamplingFactors of the array, or those of
// its group. A group has a list for each of s0, s1, …, under the name downsamplingFactors (BigDataViewer) or scales
// (n5-viewer). ok is false if there is none. group may be nil.
func (n *node) downsampling(group *node) (factors [3]float64, ok bool) {
	factors = [3]float64{1, 1, 1}
	if f, err := jsonlimit.List[float64](orNull(n.attrs["downsamplingFactors"]), chunked.MaxAxes,
		"numbers"); err == nil && len(f) >= 2 {
		copy(factors[:], f)
		return factors, true
	}
	number, ok := volume.ParseIndex(strings.TrimPrefix(path.Base(n.dir), "s"))
	if group == nil || !ok {
		return factors, false
	}
	for _, name := range []string{"downsamplingFactors", "scales"} {
		list, err := jsonlimit.List[[]float64](orNull(group.attrs[name]), chunked.MaxNodes, "factors")
		if err == nil && number < len(list) && len(list[number]) >= 2 {
			copy(factors[:], list[number])
			return factors, true
		}
	}
	return factors, false
}

// inherit gives n the attributes of places that the group around it has and n has not: those of a group are the
// defaults of all that is in it (n5-viewer, and the setups of BigDataViewer).
func (n *node) inherit(from *node) {
	attrs := object{}
	for _, name := range []string{"pixelResolution", "resolution", "units", "downsamplingFactors", "scales", "offset"} {
		if from.attrs.Has(name) {
			attrs[name] = from.attrs[name]
		}
	}
	if len(attrs) == 0 {
		return
	}
	if n.attrs.Has("pixelResolution") || n.attrs.Has("resolution") {
		delete(attrs, "pixelResolution")
		delete(attrs, "resolution")
		delete(attrs, "units")
	}
	maps.Copy(attrs, n.attrs)
	n.attrs = attrs
}
