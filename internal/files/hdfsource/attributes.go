package hdfsource

import (
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/hdf5"
)

// floats returns the numbers of an attribute of an object, or nil if it has no such attribute of n numbers.
func floats(o hdf5.Object, name string, n int) []float64 {
	a, ok, err := o.Attribute(name)
	if !ok || err != nil {
		return nil
	}
	all, err := a.Floats()
	if err != nil || len(all) != n {
		return nil
	}
	return all
}

// text returns the text of an attribute. An array of texts is joined, as Imaris writes a text of several letters.
func text(o hdf5.Object, name string) string {
	a, ok, err := o.Attribute(name)
	if !ok || err != nil {
		return ""
	}
	all, err := a.Strings()
	if err != nil {
		return ""
	}
	return strings.Join(all, "")
}

// number returns the number that a text of an attribute is.
func number(o hdf5.Object, name string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text(o, name)), 64)
	return v, err == nil
}

// parents returns an object and the groups above it, up to the root.
func (t *tree) parents(o hdf5.Object) []hdf5.Object {
	all := []hdf5.Object{o}
	for at := path.Dir(path.Join("/", o.Path())); ; at = path.Dir(at) {
		if above, err := t.file.Lookup(at); err == nil {
			all = append(all, above)
		}
		if at == "/" {
			return all
		}
	}
}

// axisNames are the names of the axes of a dataset, slowest first, or nil if it has none. Names are x, y, z, c, t or
// others.
type axisNames struct {
	names []string
	from  string // what says so
}

// axisNames returns the names of the axes of a dataset.
func (t *tree) axisNames(d *hdf5.Dataset, reversed bool) axisNames {
	rank := len(d.Shape())
	if names := ilastikAxes(text(d, "axistags")); len(names) == rank {
		return axisNames{names, "axistags of ilastik"}
	}
	if names := t.dimensionNames(d); len(names) == rank && allAxes(names) {
		return axisNames{names, "dimension scales"}
	}
	a, ok, err := d.Attribute("axes")
	if !ok || err != nil {
		return axisNames{}
	}
	names, err := a.Strings()
	if err != nil || len(names) != rank || !allAxes(names) {
		return axisNames{}
	}
	if reversed {
		names = reversedOf(names)
	}
	return axisNames{names, "the attribute axes"}
}

// ilastikAxes returns the keys of axistags, which are JSON of vigra.
func ilastikAxes(tags string) (names []string) {
	var parsed struct {
		Axes []struct {
			Key string `json:"key"`
		} `json:"axes"`
	}
	if tags == "" || json.Unmarshal([]byte(tags), &parsed) != nil {
		return nil
	}
	for _, a := range parsed.Axes {
		names = append(names, a.Key)
	}
	return names
}

// dimensions returns the dimension scales of a dataset, as netCDF-4 writes them: for each axis a dataset, or nil.
func (t *tree) dimensions(d *hdf5.Dataset) []*hdf5.Dataset {
	a, ok, err := d.Attribute("DIMENSION_LIST")
	if !ok || err != nil {
		return nil
	}
	addresses, err := a.References()
	if err != nil || len(addresses) != len(d.Shape()) {
		return nil
	}
	scales := make([]*hdf5.Dataset, len(addresses))
	for _, other := range t.datasets {
		for axis, address := range addresses {
			if address == other.Address() {
				scales[axis] = other
			}
		}
	}
	return scales
}

// dimensionNames returns the names of the dimension scales of a dataset.
func (t *tree) dimensionNames(d *hdf5.Dataset) (names []string) {
	for _, scale := range t.dimensions(d) {
		if scale == nil {
			return nil
		}
		names = append(names, path.Base(scale.Path()))
	}
	return names
}

// allAxes reports whether all names are those of axes that a volume or a series may have.
func allAxes(names []string) bool {
	seen := map[string]bool{}
	for _, name := range names {
		if len(name) != 1 || !strings.Contains("xyzct", name) || seen[name] {
			return false
		}
		seen[name] = true
	}
	return seen["x"] && seen["y"]
}

func reversedOf(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[len(names)-1-i] = name
	}
	return all
}
