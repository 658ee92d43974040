package webknossos

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// TestInvalidLayer: a layer whose metadata cannot be parsed does not take them from the others. It is shown without
// them, or is an omission with a fault.
func TestInvalidLayer(t *testing.T) {
	const metadata = `{"scale": [4, 4, 40], "dataLayers": [
		{"name": "color", "boundingBox": {"topLeft": [1, 2, 3], "width": 4, "height": 5, "depth": 6}, "mags": [{"mag": 1}]},
		{"name": "bad", "boundingBox": {"topLeft": [1, 2], "width": 4, "height": 5, "depth": 6}, "mags": [{"mag": 1}]},
		{"name": "zarr", "dataFormat": "zarr", "mags": [{"mag": "x"}]},
		{"name": 5}]}`
	cube := &fstest.MapFile{Data: soundCube}
	files := fstest.MapFS{PropertiesFile: {Data: []byte(metadata)}, "color/1/z0/y0/x0.wkw": cube,
		"bad/1/z0/y0/x0.wkw": cube}
	root, err := Recognise(files, ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if names, err := root.Dataset.Layers(); err != nil || !slices.Equal(names, []string{"bad", "color"}) {
		t.Errorf("got the layers %v, %v", names, err)
	}
	for name, want := range map[string]volume.Box{
		"color": {Min: volume.Vec{1, 2, 3}, Max: volume.Vec{5, 7, 9}},
		"bad":   {Max: volume.Cube(2)},
	} {
		l, err := root.Dataset.Layer(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Mag("1")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Bounds(); got != want || err != nil {
			t.Errorf("%s: got %v, %v, expected %v", name, got, err, want)
		}
		if g, _ := m.CubeGrid(); g.Spacing != [3]float64{4, 4, 40} {
			t.Errorf("%s: got the spacing %v", name, g.Spacing)
		}
	}
	var omitted []string
	for _, o := range root.Dataset.(volume.Omitter).Omitted() {
		if !o.Fault {
			t.Errorf("%s is no fault", o.Name)
		}
		omitted = append(omitted, o.Name+": "+o.Reason)
	}
	if len(omitted) != 2 || !strings.HasPrefix(omitted[0],
		`zarr: datasource-properties.json: dataLayers: layer "zarr": mags: mag: expected 3 numbers`) ||
		!strings.HasPrefix(omitted[1],
			"layer 3: datasource-properties.json: dataLayers: json: cannot unmarshal number") {
		t.Errorf("got the omissions %q", omitted)
	}
	text := textOf(checkMetadata(root.Dataset))
	for _, want := range []string{"topLeft: expected 3 numbers of type int, found [1, 2]", `layer "zarr"`,
		"cannot unmarshal number"} {
		if !strings.Contains(text, want) {
			t.Errorf("got the faults %q, expected %q", text, want)
		}
	}
	if p, err := ReadProperties(files, "."); p != nil || err == nil {
		t.Errorf("got %v, %v, expected an error", p, err)
	}
}

// TestSameName: of layers with the same name in the metadata, the first is shown. The others are omissions with a
// fault, also if they cannot be parsed, and a warning.
func TestSameName(t *testing.T) {
	var w warnings
	d := datasetOf(t, &w, magAt("color/1"), described(
		`{"name": "color", "category": "color", "mags": [{"mag": 1}]}`, `{"name": "gone"}`, `{"name": "gone"}`,
		`{"name": "color", "category": "segmentation", "mags": [{"mag": 2}]}`,
		`{"name": "color", "mags": [{"mag": "x"}]}`,
	))
	if names, err := d.Layers(); err != nil || !slices.Equal(names, []string{"color"}) {
		t.Errorf("got the layers %v, %v", names, err)
	}
	l, err := d.Layer("color")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := l.Mag("1"); err != nil || m.About().Category != "color" || len(l.(volume.Omitter).Omitted()) != 0 {
		t.Errorf("the layer is not the first one: %+v, %v", m, err)
	}
	const second = ": datasource-properties.json: dataLayers: layer %q: expected a name of its own, found that of a layer before it"
	want := []string{
		`color: datasource-properties.json: dataLayers: layer "color": mags: mag: expected`,
		"gone" + fmt.Sprintf(second, "gone"), "color" + fmt.Sprintf(second, "color"), "gone: no mags found",
	}
	if got := omissions(d); !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("got the omissions %q", got)
	}
	for _, o := range d.Omitted() {
		if o.Fault == (o.Reason == "no mags found") {
			t.Errorf("%+v: wrong fault", o)
		}
	}
	if warned := w.lines(); len(warned) != 1 || strings.Count(warned[0], "expected a name of its own") != 2 {
		t.Errorf("got the warnings %q", warned)
	}
	if text := textOf(errors.Join(d.CheckMetadata()...)); strings.Count(text, "expected a name of its own") != 2 {
		t.Errorf("got the faults %q", text)
	}
}
