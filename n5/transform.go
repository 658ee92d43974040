package n5

import (
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/chunked"
	"github.com/wkwfs/wkwfs/internal/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// options returns what the attributes of an array and its group say about it. group may be nil.
func (n *node) options(group *node) ArrayOptions {
	t := n.transform(group)
	o := ArrayOptions{Factor: volume.Factor{1, 1, 1}, Spacing: t.Spacing(), Origin: t.Origin(t)}
	if group != nil {
		o.StatMetadata = chunked.StatFiles(nil, group.fsys, group.file())
	}
	return o
}

// transform returns where the voxels of an array are: by its transform, by that in its group, or by its voxel size.
func (n *node) transform(group *node) chunked.Transform {
	if t, ok := parseTransform(n.attrs["transform"]); ok {
		return t
	}
	if group != nil {
		if t, ok := group.transformOf(path.Base(n.dir)); ok {
			return t
		}
	}
	return n.resolution(group)
}

// transformOf returns the transform of a resolution in the metadata of its group (OpenOrganelle).
func (n *node) transformOf(name string) (chunked.Transform, bool) {
	images, err := jsonlimit.List[object](orNull(n.attrs["multiscales"]), chunked.MaxNodes, "images")
	if err != nil || len(images) == 0 {
		return chunked.Transform{}, false
	}
	levels, err := jsonlimit.List[object](orNull(images[0]["datasets"]), chunked.MaxNodes, "resolutions")
	if err != nil {
		return chunked.Transform{}, false
	}
	for _, level := range levels {
		var p string
		if level.Get("path", &p) == nil && path.Clean(p) == name {
			return parseTransform(level["transform"])
		}
	}
	return chunked.Transform{}, false
}

func orNull(b []byte) []byte {
	if b == nil {
		return []byte("null")
	}
	return b
}

// parseTransform parses a transform of OpenOrganelle: lists with a number or a text for each axis, which "axes" names. It
// returns false if there is none, or if it is not complete.
func parseTransform(raw []byte) (t chunked.Transform, ok bool) {
	var o object
	if raw == nil || o.UnmarshalJSON(raw) != nil {
		return t, false
	}
	axes, _ := jsonlimit.List[string](orNull(o["axes"]), chunked.MaxAxes, "axes")
	scale, err := jsonlimit.List[float64](orNull(o["scale"]), chunked.MaxAxes, "numbers")
	if err != nil {
		return t, false
	}
	translation, _ := jsonlimit.List[float64](orNull(o["translate"]), chunked.MaxAxes, "numbers")
	units, _ := jsonlimit.List[string](orNull(o["units"]), chunked.MaxAxes, "units")
	for i, name := range []string{"x", "y", "z"} {
		at := slices.IndexFunc(axes, func(a string) bool { return strings.EqualFold(a, name) })
		if at < 0 || at >= len(scale) || scale[at] <= 0 {
			return t, false
		}
		t.Scale[i] = scale[at]
		if at < len(translation) {
			t.Translation[i] = translation[at]
		}
		if at < len(units) {
			t.Unit[i] = chunked.Nanometres(units[at])
		}
	}
	return t, true
}

// resolution returns where the voxels are by their size: pixelResolution, or resolution, of the array or else of its group. The
// size in a group is that at full resolution. So is the size in an array if it is the same as in the group.
func (n *node) resolution(group *node) (t chunked.Transform) {
	factors := n.downsampling(group)
	size, unit, ok := n.pixelResolution()
	if group != nil {
		groupSize, groupUnit, found := group.pixelResolution()
		if !ok && found {
			size, unit = groupSize, groupUnit
		}
		if ok && (!found || size != groupSize) {
			factors = [3]float64{1, 1, 1}
		}
	} else if ok {
		factors = [3]float64{1, 1, 1}
	}
	for axis := range 3 {
		t.Scale[axis] = size[axis] * factors[axis]
		t.Unit[axis] = unit
		t.Translation[axis] = size[axis] * (factors[axis] - 1) / 2
	}
	return t
}

// pixelResolution returns the voxel size in the attributes, and its unit in nm. If there is none, the size is 1 and the unit is 0.
func (n *node) pixelResolution() (size [3]float64, unit float64, ok bool) {
	for _, name := range []string{"pixelResolution", "resolution"} {
		var withUnit struct {
			Dimensions []float64
			Unit       string
		}
		if n.attrs.Get(name, &withUnit) == nil && len(withUnit.Dimensions) >= 3 {
			return [3]float64(withUnit.Dimensions[:3]), chunked.Nanometres(withUnit.Unit), true
		}
		if list, err := jsonlimit.List[float64](orNull(n.attrs[name]), chunked.MaxAxes, "numbers"); err == nil && len(list) >= 3 {
			return [3]float64(list[:3]), n.unit(), true
		}
	}
	return [3]float64{1, 1, 1}, 0, false
}

// unit returns the unit of lengths in the attributes, in nm.
func (n *node) unit() float64 {
	units, err := jsonlimit.List[string](orNull(n.attrs["units"]), chunked.MaxAxes, "units")
	if err != nil || len(units) == 0 {
		return 0
	}
	return chunked.Nanometres(units[0])
}

// downsampling returns the size of a voxel in voxels of full resolution: downsamplingFactors of the array, or those of its group.
// A group has a list for each of s0, s1, …, under the name downsamplingFactors (BigDataViewer) or scales (n5-viewer).
func (n *node) downsampling(group *node) [3]float64 {
	if f, err := jsonlimit.List[float64](orNull(n.attrs["downsamplingFactors"]), chunked.MaxAxes, "numbers"); err == nil && len(f) >= 3 {
		return [3]float64(f[:3])
	}
	number, ok := volume.ParseIndex(strings.TrimPrefix(path.Base(n.dir), "s"))
	if group == nil || !ok {
		return [3]float64{1, 1, 1}
	}
	for _, name := range []string{"downsamplingFactors", "scales"} {
		list, err := jsonlimit.List[[]float64](orNull(group.attrs[name]), chunked.MaxNodes, "factors")
		if err == nil && number < len(list) && len(list[number]) >= 3 {
			return [3]float64(list[number][:3])
		}
	}
	return [3]float64{1, 1, 1}
}
