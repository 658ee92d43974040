package n5

import (
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// options returns what the attributes of an array say about it.
func (n *node) options() ArrayOptions {
	t, _ := n.transform(nil, nil)
	return ArrayOptions{Factor: volume.Factor{1, 1, 1}, Spacing: t.Spacing(), Origin: t.Origin(t)}
}

// transform returns where the voxels of an array are, in nm where the unit is known: by its transform, by that in its
// group, or by its voxel size. isOwn is false if that is the same for all resolutions. group, and finest, the array s0
// of the group, may be nil.
func (n *node) transform(group, finest *node) (t chunked.Transform, isOwn bool) {
	t, isOwn = parseTransform(n.attrs["transform"])
	if !isOwn && group != nil {
		t, isOwn = group.transformOf(path.Base(n.dir))
	}
	if !isOwn {
		t, isOwn = n.resolution(group, finest)
	}
	return t.InNanometres(), isOwn
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

// parseTransform parses a transform of OpenOrganelle: lists with a number or a text for each axis, which "axes" names.
// It returns false if there is none, or if it is not complete.
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
