package zarr

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// tree is a file system with arrays and groups in version 3. A path that ends with "/" is a group with attributes, any
// other an array with dimension names.
func tree(nodes map[string]string) fstest.MapFS {
	files := fstest.MapFS{}
	for name, what := range nodes {
		dir, isGroup := strings.CutSuffix(name, "/")
		metadata := strings.Replace(soundV3, `"fill_value"`, fmt.Sprintf(`"dimension_names":%s,"fill_value"`, what), 1)
		if isGroup {
			metadata = fmt.Sprintf(`{"zarr_format":3,"node_type":"group","attributes":%s}`, what)
		}
		files[strings.TrimPrefix(dir+"/"+metadataV3, "/")] = &fstest.MapFile{Data: []byte(metadata)}
	}
	return files
}

const zyx = `["z","y","x"]`

// describe lists layers with their mags, as name(mag mag).
func describe(t *testing.T, r volume.Root) string {
	t.Helper()
	mags := func(l volume.Layer) string {
		names, err := l.Mags()
		if err != nil {
			t.Fatal(err)
		}
		return "(" + strings.Join(names, " ") + ")"
	}
	if r.Layer != nil {
		return mags(r.Layer)
	}
	if r.Mag != nil {
		return "array"
	}
	var all []string
	names, err := r.Dataset.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		l, err := r.Dataset.Layer(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, name+mags(l))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// image returns the attributes of an image with resolutions at paths.
func image(paths ...string) string {
	var levels []string
	for i, p := range paths {
		levels = append(levels,
			fmt.Sprintf(`{"path":%q,"coordinateTransformations":[{"type":"scale","scale":[40,%d,%d]}]}`, p, 4<<i, 4<<i))
	}
	return fmt.Sprintf(`{"ome":{"version":"0.5","multiscales":[{"name":"em","axes":[{"name":"z","type":"space","unit":"nanometer"},
		{"name":"y","type":"space","unit":"nanometer"},{"name":"x","type":"space","unit":"nanometer"}],"datasets":[%s]}]}}`, strings.Join(levels, ","))
}

// twoImages returns the attributes of a group with both images. The second one has no name.
func twoImages(first, second string) string {
	const start = `"multiscales":[`
	_, second, _ = strings.Cut(strings.TrimSuffix(second, "]}}"), start)
	return strings.TrimSuffix(first, "]}}") + "," + strings.Replace(second, `"name":"em",`, "", 1) + "]}}"
}

// eightTimes describes the layers of an array with eight times.
func eightTimes(prefix, mags string) string {
	var all []string
	for i := range 8 {
		all = append(all, fmt.Sprintf("%st%04d(%s)", prefix, i, mags))
	}
	return strings.Join(all, " ")
}

// TestRecognise opens arrays and groups as mags, layers and datasets.
func TestRecognise(t *testing.T) {
	for _, c := range []struct {
		name    string
		nodes   map[string]string
		want    string
		omitted string // the name of what is left out, and a part of the reason
	}{
		{"an array", map[string]string{"": zyx}, "array", ""},
		{"an image", map[string]string{"/": image("0", "s1"), "0": zyx, "s1": zyx}, "(0 s1)", ""},
		{"an image with a path of two names", map[string]string{"/": image("a/0"), "a/0": zyx}, "(a_0)", ""},
		{"a resolution is missing", map[string]string{"/": image("0", "1"), "0": zyx}, "(0)",
			"1: open 1/zarr.json: file does not exist"},
		{"a path leads out", map[string]string{"/": image("0", "../x"), "0": zyx}, "(0)", "../x: path"},
		{"a path is a URL", map[string]string{"/": image("0", "s3://a/b"), "0": zyx}, "(0)", "s3://a/b: path"},
		{"an image with labels", map[string]string{"/": image("0"), "0": zyx, "labels/": `{"ome":{"labels":["cells"]}}`,
			"labels/cells/": image("0"), "labels/cells/0": zyx}, "cells(0) em(0)", ""},
		{"labels that are not listed", map[string]string{"/": image("0"), "0": zyx, "labels/": `{}`,
			"labels/cells/": image("0"), "labels/cells/0": zyx}, "cells(0) em(0)", ""},
		{"labels that lead out", map[string]string{"/": image("0"), "0": zyx,
			"labels/": `{"ome":{"labels":["../../etc","x"]}}`}, "em(0)", "x: open labels/x"},
		{"images in a group", map[string]string{"/": `{}`, "a/": image("0"), "a/0": zyx, "b/c/": image("0"),
			"b/c/0": zyx, "b/": `{}`}, "a(0) b_c(0)", ""},
		{"two images in a group", map[string]string{"/": twoImages(image("0"), image("1")), "0": zyx, "1": zyx},
			"em(0) image2(1)", ""},
		{"an image that cannot be read beside one that can", map[string]string{"/": twoImages(image("0"), image("1")),
			"1": zyx}, "image2(1)", "em: zarr.json: no resolution can be read"},
		{"arrays in a group", map[string]string{"/": `{}`, "raw": zyx, "sub/": `{}`, "sub/labels": zyx},
			"raw(1) sub_labels(1)", ""},
		{"mags in a group", map[string]string{"/": `{}`, "1": zyx, "4-4-2": zyx, "2-2-1": zyx}, "(1 2-2-1 4-4-2)", ""},
		{"an array with time", map[string]string{"/": `{}`, "a": zyx, "b": `["time","y","x"]`},
			"a(1) " + eightTimes("b/", "1"), ""},
		{"an array with time as the source", map[string]string{"": `["t","y","x"]`}, eightTimes("", "1"), ""},
		{"an axis without a plain name", map[string]string{"/": `{}`, "b": `["../T","y","x"]`},
			strings.ReplaceAll(eightTimes("b/", "1"), "/t", "/axis0_"), ""},
		{"an image with times and two resolutions",
			map[string]string{"/": `{"ome":{"multiscales":[{"axes":["t","y","x"],"datasets":[{"path":"0"},{"path":"1"}]}]}}`, "0": `["t","y","x"]`, "1": zyx}, eightTimes("", "0 1"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Recognise(tree(c.nodes), ".")
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(t, r); got != c.want {
				t.Errorf("got %s, expected %s", got, c.want)
			}
			var omitted []string
			for _, of := range []any{r.Layer, r.Dataset} {
				if o, ok := of.(volume.Omitter); ok {
					for _, x := range o.Omitted() {
						omitted = append(omitted, x.Name+": "+x.Reason)
					}
				}
			}
			if got := strings.Join(omitted, "; "); (got == "") != (c.omitted == "") ||
				!strings.HasPrefix(got, c.omitted) {
				t.Errorf("omitted: got %q, expected %q", got, c.omitted)
			}
		})
	}
}

// TestNotRecognised: only a directory with metadata is recognised, and one without any array that can be read is an
// error.
func TestNotRecognised(t *testing.T) {
	if _, err := Recognise(fstest.MapFS{"a/other": &fstest.MapFile{}}, "a"); err != ErrNotRecognised {
		t.Errorf("got %v", err)
	}
	if _, err := Recognise(tree(map[string]string{"/": `{}`}), "."); err == nil ||
		!strings.Contains(err.Error(), "zarr.json: no array can be read") {
		t.Errorf("got %v", err)
	}
	if _, err := Recognise(tree(map[string]string{"/": image("0")}), "."); err == nil ||
		!strings.Contains(err.Error(), "no resolution can be read; 0: open 0/zarr.json") {
		t.Errorf("got %v", err)
	}
}

// TestTransforms: scale, translation and unit of an image become the place of its voxels. Resolutions are aligned at
// corners.
func TestTransforms(t *testing.T) {
	for _, c := range []struct {
		transforms string
		spacing    [3]float64
		origin     volume.Vec
	}{
		{`[{"type":"scale","scale":[40,4,5]}]`, [3]float64{5, 4, 40}, volume.Vec{}},
		{`[{"type":"scale","scale":[40,4,5]},{"type":"translation","translation":[400,-8,50]}]`, [3]float64{5, 4, 40},
			volume.Vec{10, -2, 10}},
		{`[{"type":"scale","scale":[1e30,4,-5]}]`, [3]float64{0, 4, 0}, volume.Vec{}},
		{`[{"type":"translation","translation":[1e300,0,0]}]`, [3]float64{1, 1, 1}, volume.Vec{}},
		{`[{"type":"identity"}]`, [3]float64{1, 1, 1}, volume.Vec{}},
		{`[{"type":"sequence","transformations":[{"type":"scale","scale":[40,4,5]},{"type":"translation","translation":[400,-8,50]}]}]`,
			[3]float64{5, 4, 40}, volume.Vec{10, -2, 10}},
	} {
		attributes := strings.Replace(image("0"), `[{"type":"scale","scale":[40,4,4]}]`, c.transforms, 1)
		r, err := Recognise(tree(map[string]string{"/": attributes, "0": zyx}), ".")
		if err != nil {
			t.Fatal(err)
		}
		m, err := r.Layer.Mag("0")
		if err != nil {
			t.Fatal(err)
		}
		if g, _ := m.CubeGrid(); g.Spacing != c.spacing || g.Origin != c.origin {
			t.Errorf("%s: got the spacing %v and the origin %v, expected %v and %v", c.transforms, g.Spacing, g.Origin,
				c.spacing, c.origin)
		}
	}
}
