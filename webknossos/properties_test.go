package webknossos

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// TestIntensityRange: a range that is not valid is ignored, and never hides the layer.
func TestIntensityRange(t *testing.T) {
	for _, c := range []struct {
		json string
		want volume.Window
	}{
		{`{"color": [255, 219, 219], "intensityRange": [70.0, 180.0]}`, volume.Window{Low: 70, High: 180}},
		{`{"intensityRange": [-0.5, 1e-3]}`, volume.Window{Low: -0.5, High: 1e-3}},
		{`{"intensityRange": [180, 70]}`, volume.Window{}},
		{`{"intensityRange": [70, 70]}`, volume.Window{}},
		{`{"intensityRange": [70]}`, volume.Window{}},
		{`{"intensityRange": [1, 2, 3]}`, volume.Window{}},
		{`{"intensityRange": [0, 1e999]}`, volume.Window{}},
		{`{"intensityRange": "all"}`, volume.Window{}},
		{`{"intensityRange": null}`, volume.Window{}},
		{`{}`, volume.Window{}},
		{`null`, volume.Window{}},
		{`[1, 2]`, volume.Window{}},
		{`"dark"`, volume.Window{}},
	} {
		var p Properties
		b := `{"dataLayers": [{"name": "l", "defaultViewConfiguration": ` + c.json + `}]}`
		if err := json.Unmarshal([]byte(b), &p); err != nil || p.Layers[0].Name != "l" {
			t.Errorf("%s: %v", c.json, err)
			continue
		}
		if got := p.Layers[0].Window(); got != c.want {
			t.Errorf("%s: got %v, expected %v", c.json, got, c.want)
		}
	}
}

// TestAdminIntensityRange: the view of the administrator counts, unless it has no valid range.
func TestAdminIntensityRange(t *testing.T) {
	for _, c := range []struct {
		admin string
		want  volume.Window
	}{
		{`{"intensityRange": [20, 30]}`, volume.Window{Low: 20, High: 30}},
		{`{"intensityRange": [30, 20]}`, volume.Window{Low: 70, High: 180}},
		{`{"color": [1, 2, 3]}`, volume.Window{Low: 70, High: 180}},
		{`null`, volume.Window{Low: 70, High: 180}},
	} {
		var p Properties
		b := `{"dataLayers": [{"name": "l", "adminViewConfiguration": ` + c.admin +
			`, "defaultViewConfiguration": {"intensityRange": [70, 180]}}]}`
		if err := json.Unmarshal([]byte(b), &p); err != nil {
			t.Errorf("%s: %v", c.admin, err)
			continue
		}
		if got := p.Layers[0].Window(); got != c.want {
			t.Errorf("%s: got %v, expected %v", c.admin, got, c.want)
		}
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		json string
		want Scale
	}{
		{`[11.24, 11.24, 28]`, Scale{11.24, 11.24, 28}},
		{`{"factor": [11.24, 11.24, 28], "unit": "nanometer"}`, Scale{11.24, 11.24, 28}},
		{`{"factor": [1, 2, 3]}`, Scale{1, 2, 3}},
		{`{"factor": [4, 4, 40], "unit": "angstrom"}`, Scale{0.4, 0.4, 4}},
		{`{"factor": [0.5, 0.5, 2], "unit": "micrometer"}`, Scale{500, 500, 2000}},
		{`{"factor": [1, 1, 2], "unit": "millimeter"}`, Scale{1e6, 1e6, 2e6}},
		{`{"factor": [1, 1, 1], "unit": "inch"}`, Scale{25.4e6, 25.4e6, 25.4e6}},
		{`{"factor": [1, 1, 1], "unit": "parsec"}`, Scale{}},
		{`{"unit": "nanometer"}`, Scale{}},
		{`{}`, Scale{}},
		{`null`, Scale{}},
		{`[0, -4, 40]`, Scale{0, 0, 40}},
		{`[1e300, 1e13, 1e12]`, Scale{0, 0, 1e12}},
		{`{"factor": [1e308, 1e308, 1], "unit": "meter"}`, Scale{0, 0, 1e9}},
	} {
		s := Scale{7, 7, 7} // must be replaced
		if err := json.Unmarshal([]byte(c.json), &s); err != nil {
			t.Errorf("%s: %v", c.json, err)
		}
		for axis := range 3 {
			if math.Abs(s[axis]-c.want[axis]) > 1e-9*c.want[axis] {
				t.Errorf("%s: got %v, expected %v", c.json, s, c.want)
			}
		}
	}
	for _, c := range []struct{ json, want string }{
		{`11.24`, "scale: expected 3 numbers of type float64, found 11.24"},
		{`[1, 2]`, "scale: expected 3 numbers of type float64, found [1, 2]"},
		{`[1, 2, 3, 4]`, "scale: expected 3 numbers of type float64, found [1, 2, 3, 4]"},
		{`["1", 2, 3]`, `scale: expected 3 numbers of type float64, found ["1", 2, 3]`},
		{`{"factor": 4, "unit": "nanometer"}`, "scale: expected 3 numbers of type float64, found 4"},
		{`[1e999, 1, 1]`, "scale: expected 3 numbers of type float64, found [1e999, 1, 1]"},
	} {
		var s Scale
		if err := json.Unmarshal([]byte(c.json), &s); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, expected %s", c.json, err, c.want)
		}
	}
}

func TestMagProperties(t *testing.T) {
	for _, c := range []struct {
		json string
		want string
	}{
		{`{"mag": [1, 1, 1], "path": "./color/1", "cubeLength": 1024}`, "1"},
		{`{"mag": [4, 4, 2]}`, "4-4-2"},
		{`{"mag": 8}`, "8"},
		{`{"mag": [2.0, 2.0, 1]}`, "2-2-1"},
		{`{"resolution": 4.0}`, "4"},
		{`8`, "8"},
		{`[2, 2, 1]`, "2-2-1"},
		{`{"resolution": 4, "cubeLength": 1024}`, "4"},
		{`{"resolution": [2, 2, 1]}`, "2-2-1"},
		{`{"mag": [2, 2, 1], "resolution": 4}`, "2-2-1"},
		{`{"mag": null, "resolution": 4}`, "4"},
		{`{}`, "0"},
	} {
		var m MagProperties
		if err := json.Unmarshal([]byte(c.json), &m); err != nil {
			t.Errorf("%s: %v", c.json, err)
		}
		if got := m.Factor().String(); got != c.want {
			t.Errorf("%s: got %s, expected %s", c.json, got, c.want)
		}
	}
	for _, s := range []string{`{"mag": [2, 2]}`, `{"mag": [2, 2, 1, 1]}`, `{"mag": 1.5}`, `{"mag": "1"}`,
		`{"resolution": [1, 1, 0.5]}`} {
		var m MagProperties
		if err := json.Unmarshal([]byte(s), &m); err == nil ||
			!strings.HasPrefix(err.Error(), "mag: expected 3 numbers of type int, found") {
			t.Errorf("%s: got %v, %v", s, m, err)
		}
	}
}

func TestBox(t *testing.T) {
	for _, c := range []struct {
		name   string
		json   string
		factor volume.Factor
		want   string // empty if the box cannot be used
	}{
		{"as it is", `{"topLeft": [2679, 4224, 1719], "width": 256, "height": 250, "depth": 150}`,
			volume.Factor{1, 1, 1}, "2679-2935_4224-4474_1719-1869"},
		{"numbers as floats", `{"topLeft": [-5.0, 4e0, 1.0], "width": 256.0, "height": 250, "depth": 1.5e2}`,
			volume.Factor{1, 1, 1}, "-5-251_4-254_1-151"},
		{"minimum rounded down, maximum up",
			`{"topLeft": [2679, 4224, 1719], "width": 256, "height": 256, "depth": 150}`, volume.Factor{4, 4, 2},
			"669-734_1056-1120_859-935"},
		{"aligned", `{"topLeft": [8, 8, 8], "width": 8, "height": 16, "depth": 24}`, volume.Factor{8, 8, 8},
			"1-2_1-3_1-4"},
		{"one voxel of many", `{"topLeft": [9, 0, 31], "width": 1, "height": 1, "depth": 1}`, volume.Factor{16, 16, 16},
			"0-1_0-1_1-2"},
		{"one voxel in two", `{"topLeft": [15, 0, 0], "width": 2, "height": 1, "depth": 1}`, volume.Factor{16, 16, 16},
			"0-2_0-1_0-1"},
		{"negative minimum", `{"topLeft": [-5, -4, -1], "width": 10, "height": 4, "depth": 1}`, volume.Factor{4, 4, 4},
			"-2-2_-1-0_-1-0"},
		{"no factor that divides", `{"topLeft": [10, 10, 10], "width": 10, "height": 10, "depth": 10}`,
			volume.Factor{3, 7, 11}, "3-7_1-3_0-2"},
		{"at the limit",
			`{"topLeft": [-1099511627776, 1099511627776, 0], "width": 1099511627776, "height": 1099511627776, "depth": 1}`, volume.Factor{1, 1, 1},
			"-1099511627776-0_1099511627776-2199023255552_0-1"},
		{"empty", `{"topLeft": [0, 0, 0], "width": 0, "height": 1, "depth": 1}`, volume.Factor{1, 1, 1}, ""},
		{"negative", `{"topLeft": [0, 0, 0], "width": 1, "height": -1, "depth": 1}`, volume.Factor{1, 1, 1}, ""},
		{"no depth", `{"topLeft": [0, 0, 0], "width": 1, "height": 1}`, volume.Factor{1, 1, 1}, ""},
		{"too wide", `{"topLeft": [0, 0, 0], "width": 1099511627777, "height": 1, "depth": 1}`, volume.Factor{1, 1, 1},
			""},
		{"as wide as a number", `{"topLeft": [0, 0, 0], "width": 9223372036854775807, "height": 1, "depth": 1}`,
			volume.Factor{1, 1, 1}, ""},
		{"too far", `{"topLeft": [0, 1099511627777, 0], "width": 1, "height": 1, "depth": 1}`, volume.Factor{1, 1, 1},
			""},
		{"too far down",
			`{"topLeft": [0, 0, -9223372036854775808], "width": 1, "height": 1, "depth": 9223372036854775807}`,
			volume.Factor{1, 1, 1}, ""},
		{"no factor", `{"topLeft": [0, 0, 0], "width": 1, "height": 1, "depth": 1}`, volume.Factor{}, ""},
		{"none", `null`, volume.Factor{1, 1, 1}, ""},
	} {
		var l LayerProperties
		if err := json.Unmarshal(fmt.Appendf(nil, `{"boundingBox": %s}`, c.json), &l); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		box, ok := l.box(c.factor)
		if ok != (c.want != "") || ok && box.String() != c.want {
			t.Errorf("%s: got %v, %v, expected %s", c.name, box, ok, c.want)
		}
	}
}

func TestLocalPath(t *testing.T) {
	for p, want := range map[string]string{
		"./color/1": "color/1", "color/1": "color/1", "color//1/": "color/1", "a/../b/1": "b/1", "..x/1": "..x/1",
		"": "", ".": "", "./": "", "..": "", "../x": "", "a/../../x": "", "/": "", "/data/color/1": "",
		"s3://bucket/color/1": "", "https://example.org/color/1": "", "file:///data/color/1": "",
	} {
		got, ok := localPath(p)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: got %q, %v, expected %q", p, got, ok, want)
		}
	}
}

func TestReadProperties(t *testing.T) {
	const whole = `{
		"id": {"name": "x", "team": ""},
		"scale": [4, 4, 40],
		"dataLayers": [
			{"name": "color", "category": "color", "elementClass": "uint24", "numChannels": 3, "dataFormat": "wkw",
			 "boundingBox": {"topLeft": [1, 2, 3], "width": 4, "height": 5, "depth": 6},
			 "mags": [{"mag": [1, 1, 1], "path": "./color/1"}], "wkwResolutions": [{"resolution": 2}]},
			{"name": "seg", "dataFormat": "zarr3", "mags": [{"mag": [1, 1, 1]}]},
			{"name": "old"}
		]}`
	p, err := ReadProperties(fstest.MapFS{"ds/datasource-properties.json": {Data: []byte(whole)}}, "ds")
	if err != nil {
		t.Fatal(err)
	}
	if p.scale() != (Scale{4, 4, 40}) || len(p.Layers) != 3 {
		t.Fatalf("got %+v", p)
	}
	l := p.layer("color")
	if l.Category != "color" || l.ElementClass != "uint24" || l.NumChannels != 3 ||
		*l.BoundingBox != (BoundingBox{Corner{1, 2, 3}, 4, 5, 6}) {
		t.Errorf("got %+v", l)
	}
	var factors []string
	for _, m := range l.mags() {
		factors = append(factors, m.Factor().String())
	}
	if !slices.Equal(factors, []string{"1", "2"}) {
		t.Errorf("got the mags %v", factors)
	}
	if !l.isWKW() || p.layer("seg").isWKW() || !p.layer("old").isWKW() || p.layer("none") != nil {
		t.Error("the wrong layers are WKW")
	}
	var none *Properties
	if none.layer("color") != nil || none.scale() != (Scale{}) || none.layer("color").mags() != nil {
		t.Error("got properties without metadata")
	}
}

func TestReadPropertiesErrors(t *testing.T) {
	layer := func(s string) string { return `{"dataLayers": [{"name": "color", ` + s + `}]}` }
	for _, c := range []struct{ name, json, want string }{
		{"empty", ``, "unexpected end of JSON input"},
		{"cut off", `{"scale": [1, 1`, "unexpected end of JSON input"},
		{"no JSON", `<html>`, "invalid character '<'"},
		{"a list", `[]`, "cannot unmarshal array"},
		{"layers are no list", `{"dataLayers": {}}`, "dataLayers"},
		{"two coordinates", layer(`"boundingBox": {"topLeft": [1, 2]}`),
			"topLeft: expected 3 numbers of type int, found [1, 2]"},
		{"half a voxel", layer(`"boundingBox": {"topLeft": [1, 2, 2.5]}`),
			"topLeft: expected 3 numbers of type int, found [1, 2, 2.5]"},
		{"width beyond all numbers", layer(`"boundingBox": {"width": 99999999999999999999}`),
			"expected a whole number, found 99999999999999999999"},
		{"name is a number", `{"dataLayers": [{"name": 5}]}`, "name"},
	} {
		p, err := ReadProperties(fstest.MapFS{PropertiesFile: {Data: []byte(c.json)}}, ".")
		if p != nil || err == nil || !strings.HasPrefix(err.Error(), PropertiesFile+": ") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v, expected %q", c.name, p, err, c.want)
		}
	}
	if _, err := ReadProperties(fstest.MapFS{}, "."); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	large := fstest.MapFS{PropertiesFile: {Data: make([]byte, maxProperties+1)}}
	const want = "datasource-properties.json: expected at most 16777216 bytes, found 16777217"
	if _, err := ReadProperties(large, "."); err == nil || err.Error() != want {
		t.Errorf("got %v, expected %s", err, want)
	}
}

// FuzzProperties shows that no metadata gives a box or a scale that overflows later.
func FuzzProperties(f *testing.F) {
	f.Add(
		[]byte(
			`{"scale": [1, 1, 1], "dataLayers": [{"name": "a", "boundingBox": {"topLeft": [-1, 0, 5], "width": 1, "height": 2, "depth": 3}, "mags": [{"mag": 2}]}]}`))
	f.Add(
		[]byte(
			`{"scale": {"factor": [1e300, 0, -1], "unit": "meter"}, "dataLayers": [{"wkwResolutions": [{"resolution": [1, 2, 3]}], "boundingBox": {"width": 9223372036854775807}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ReadProperties(fstest.MapFS{PropertiesFile: {Data: b}}, ".")
		if err != nil {
			return
		}
		for _, s := range p.scale() {
			if !(s >= 0 && s <= maxScale) {
				t.Errorf("scale %v", p.scale())
			}
		}
		for i := range p.Layers {
			l := &p.Layers[i]
			for _, m := range append(l.mags(), MagProperties{Mag: FactorProperty{1, 1, 1}}) {
				box, ok := l.box(m.Factor())
				if ok && (box.Empty() || box.Min != box.Min.Max(volume.Cube(-maxCoordinate)) ||
					box.Max != box.Max.Min(volume.Cube(2*maxCoordinate))) {
					t.Errorf("box %v", box)
				}
			}
		}
	})
}
