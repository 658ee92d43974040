package omezarr

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// color is an image of two mags.
func color() Image {
	return Image{Name: "color", Levels: []Level{
		{Name: "1", Type: volume.Uint8, Channels: 1, Size: volume.Vec{100, 200, 300}, Chunk: volume.Cube(32),
			Factor: volume.Factor{1, 1, 1}, Voxel: [3]float64{4, 4, 40}, Blosc: true},
		{Name: "2-2-1", Type: volume.Uint8, Channels: 1, Size: volume.Vec{50, 100, 300}, Chunk: volume.Cube(32),
			Factor: volume.Factor{2, 2, 1}, Voxel: [3]float64{8, 8, 40}, Blosc: true},
	}}
}

// parsed returns the parsed content of a file of a group, or of its level.
func parsed(t *testing.T, f *Format, img Image, level, name string) (v map[string]any) {
	t.Helper()
	var b []byte
	var err error
	if level == "" {
		b, err = f.Group(name, img)
	}
	for _, l := range img.Levels {
		if l.Name == level {
			b, err = f.Level(name, l)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return v
}

// at returns a part of JSON by the keys and indices on the way, as compact JSON.
func at(v any, way ...any) string {
	for _, key := range way {
		switch key := key.(type) {
		case string:
			v = v.(map[string]any)[key]
		case int:
			v = v.([]any)[key]
		}
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func check(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got      %s\nexpected %s", got, want)
	}
}

const (
	wantAxes     = `[{"name":"z","type":"space","unit":"nanometer"},{"name":"y","type":"space","unit":"nanometer"},{"name":"x","type":"space","unit":"nanometer"}]`
	wantDatasets = `[{"coordinateTransformations":[{"scale":[40,4,4],"type":"scale"},{"translation":[0,0,0],"type":"translation"}],"path":"1"},` +
		`{"coordinateTransformations":[{"scale":[40,8,8],"type":"scale"},{"translation":[0,2,2],"type":"translation"}],"path":"2-2-1"}]`
	wantChannels = `[{"active":true,"color":"FFFFFF","label":"color","window":{"end":255,"max":255,"min":0,"start":0}}]`
)

func TestV04(t *testing.T) {
	img := color()
	group := parsed(t, V04, img, "", ".zattrs")
	check(t, at(group, "multiscales", 0, "axes"), wantAxes)
	check(t, at(group, "multiscales", 0, "datasets"), wantDatasets)
	check(t, at(group, "multiscales", 0, "version"), `"0.4"`)
	check(t, at(group, "omero", "channels"), wantChannels)
	check(t, at(group, "image-label"), "null")
	check(t, at(parsed(t, V04, img, "", ".zgroup")), `{"zarr_format":2}`)
	check(t, at(parsed(t, V04, img, "2-2-1", ".zarray")),
		`{"chunks":[32,32,32],"compressor":{"blocksize":0,"clevel":5,"cname":"lz4","id":"blosc","shuffle":0},`+
			`"dimension_separator":"/","dtype":"|u1","fill_value":0,"filters":null,"order":"C","shape":[300,100,50],"zarr_format":2}`)
	check(t, at(parsed(t, V04, img, "1", ".zattrs")), `{"_ARRAY_DIMENSIONS":["z","y","x"]}`)
	check(t, at(parsed(t, V04, img, "2-2-1", ".zattrs")), `{"_ARRAY_DIMENSIONS":["z_2-2-1","y_2-2-1","x_2-2-1"]}`)
}

func TestV05(t *testing.T) {
	img := color()
	group := parsed(t, V05, img, "", "zarr.json")
	ome := group["attributes"].(map[string]any)["ome"]
	check(t, at(ome, "version"), `"0.5"`)
	check(t, at(ome, "multiscales", 0, "axes"), wantAxes)
	check(t, at(ome, "multiscales", 0, "datasets"), wantDatasets)
	check(t, at(ome, "multiscales", 0, "version"), "null")
	check(t, at(ome, "omero", "channels"), wantChannels)
	check(t, at(parsed(t, V05, img, "1", "zarr.json")),
		`{"attributes":{},"chunk_grid":{"configuration":{"chunk_shape":[32,32,32]},"name":"regular"},`+
			`"chunk_key_encoding":{"configuration":{"separator":"/"},"name":"default"},"codecs":[{"name":"bytes"},`+
			`{"configuration":{"blocksize":0,"clevel":5,"cname":"lz4","shuffle":"noshuffle","typesize":1},"name":"blosc"}],`+
			`"data_type":"uint8","dimension_names":["z","y","x"],"fill_value":0,"node_type":"array","shape":[300,200,100],"zarr_format":3}`)
}

// TestDimensions: axes of one name have one extent in all arrays of a group, as xarray and netCDF demand.
func TestDimensions(t *testing.T) {
	for _, channels := range []int{1, 3} {
		extents := map[string]any{}
		img := color()
		for _, l := range img.Levels {
			l.Channels = channels
			for i, name := range l.dimensions() {
				if extent := l.shape()[i]; extents[name] != nil && extents[name] != extent {
					t.Errorf("axis %s has the extents %v and %d", name, extents[name], extent)
				}
				extents[name] = l.shape()[i]
			}
		}
	}
}

// TestConsolidated: the consolidated metadata are all files, each under its path.
func TestConsolidated(t *testing.T) {
	img := color()
	all := parsed(t, V04, img, "", ".zmetadata")["metadata"].(map[string]any)
	names := []string{".zattrs", ".zgroup", "1/.zarray", "1/.zattrs", "2-2-1/.zarray", "2-2-1/.zattrs"}
	if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, names) {
		t.Errorf("got %v, expected %v", got, names)
	}
	for _, name := range names {
		level, file, isLevel := strings.Cut(name, "/")
		if !isLevel {
			level, file = "", name
		}
		if want := parsed(t, V04, img, level, file); !reflect.DeepEqual(all[name], any(want)) {
			t.Errorf("%s: got %v, expected %v", name, all[name], want)
		}
	}
	inline := parsed(t, V05, img, "",
		"zarr.json")["consolidated_metadata"].(map[string]any)["metadata"].(map[string]any)
	for _, l := range img.Levels {
		if want := parsed(t, V05, img, l.Name, "zarr.json"); !reflect.DeepEqual(inline[l.Name], any(want)) {
			t.Errorf("%s: got %v, expected %v", l.Name, inline[l.Name], want)
		}
	}
	if len(inline) != 2 {
		t.Errorf("%d arrays", len(inline))
	}
}

// TestKinds: what depends on type, channels and category.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		value         volume.Type
		channels      int
		labels        bool
		omero, labelV string
		shape, codecs string
	}{
		{volume.Uint32, 1, true, "null", `{"version":"0.4"}`, "[3,2,1]",
			`[{"configuration":{"endian":"little"},"name":"bytes"}]`},
		{volume.Uint16, 1, false, "null", "null", "[3,2,1]", `[{"configuration":{"endian":"little"},"name":"bytes"}]`},
		{volume.Int8, 1, false,
			`[{"active":true,"color":"FFFFFF","label":"l","window":{"end":127,"max":127,"min":-128,"start":-128}}]`,
			"null", "[3,2,1]", `[{"name":"bytes"}]`},
		{volume.Uint8, 2, false,
			`[` +
				strings.TrimSuffix(strings.Repeat(
					`{"active":true,"color":"FFFFFF","label":"l","window":{"end":255,"max":255,"min":0,"start":0}},`,
					2), ",") + `]`, "null", "[2,3,2,1]", `[{"name":"bytes"}]`},
	} {
		img := Image{Name: "l", Labels: c.labels, Levels: []Level{{Name: "4", Type: c.value, Channels: c.channels,
			Size: volume.Vec{1, 2, 3}, Chunk: volume.Cube(8), Start: volume.Vec{-8, 0, 0},
			Factor: volume.Factor{4, 4, 2}}}}
		group := parsed(t, V04, img, "", ".zattrs")
		omero := group["omero"]
		if omero != nil {
			omero = omero.(map[string]any)["channels"]
		}
		check(t, at(omero), c.omero)
		check(t, at(group, "image-label"), c.labelV)
		array := parsed(t, V04, img, "4", ".zarray")
		check(t, at(array, "shape"), c.shape)
		check(t, at(array, "compressor"), "null")
		check(t, at(array, "dtype"), at(c.value.Descr()))
		check(t, at(parsed(t, V05, img, "4", "zarr.json"), "codecs"), c.codecs)
		// Without a voxel size there is no unit, and a voxel of mag 1 has the size 1.
		space := at(group, "multiscales", 0, "axes")
		if strings.Contains(space, "unit") || c.channels > 1 != strings.HasPrefix(space,
			`[{"name":"c","type":"channel"}`) {
			t.Errorf("axes %s", space)
		}
		scale := at(group, "multiscales", 0, "datasets", 0, "coordinateTransformations", 0, "scale")
		translation := at(group, "multiscales", 0, "datasets", 0, "coordinateTransformations", 1, "translation")
		if !strings.HasSuffix(scale, "2,4,4]") || !strings.HasSuffix(translation, "0.5,1.5,-30.5]") ||
			strings.HasPrefix(scale, "[1,") != (c.channels > 1) {
			t.Errorf("scale %s, translation %s", scale, translation)
		}
	}
}

// TestWindows: images of 8 bits have the range of their type, others the window of the layer inside of the range of
// their type.
func TestWindows(t *testing.T) {
	for _, c := range []struct {
		value volume.Type
		layer volume.Window
		want  string
	}{
		{volume.Uint8, volume.Window{}, `{"end":255,"max":255,"min":0,"start":0}`},
		{volume.Uint8, volume.Window{Low: 70, High: 180}, `{"end":255,"max":255,"min":0,"start":0}`},
		{volume.Uint16, volume.Window{Low: 300, High: 4100.5}, `{"end":4100.5,"max":65535,"min":0,"start":300}`},
		{volume.Uint16, volume.Window{Low: -7, High: 1e9}, `{"end":65535,"max":65535,"min":0,"start":0}`},
		{volume.Uint16, volume.Window{Low: 1e6, High: 1e9}, ""},
		{volume.Uint16, volume.Window{Low: 9, High: 9}, ""},
		{volume.Uint16, volume.Window{}, ""},
		{volume.Int16, volume.Window{Low: -300, High: 900}, `{"end":900,"max":32767,"min":-32768,"start":-300}`},
		{volume.Uint64, volume.Window{Low: 1, High: 2}, `{"end":2,"max":18446744073709552000,"min":0,"start":1}`},
		{volume.Float32, volume.Window{Low: -0.5, High: 0.25}, `{"end":0.25,"max":0.25,"min":-0.5,"start":-0.5}`},
		{volume.Float64, volume.Window{}, ""},
	} {
		img := color()
		img.Window = c.layer
		for i := range img.Levels {
			img.Levels[i].Type = c.value
		}
		for _, group := range []any{parsed(t, V04, img, "", ".zattrs"),
			parsed(t, V05, img, "", "zarr.json")["attributes"].(map[string]any)["ome"]} {
			got := ""
			if omero, ok := group.(map[string]any)["omero"]; ok {
				got = at(omero, "channels", 0, "window")
			}
			if got != c.want {
				t.Errorf("%v, %v: got %s, expected %s", c.value, c.layer, got, c.want)
			}
		}
	}
}

// TestColors: three channels are red, green and blue.
func TestColors(t *testing.T) {
	img := color()
	for i := range img.Levels {
		img.Levels[i].Channels = 3
	}
	var colors []string
	for _, c := range newOmero("", img).Channels {
		colors = append(colors, c.Label, c.Color)
	}
	if want := []string{"red", "FF0000", "green", "00FF00", "blue", "0000FF"}; !slices.Equal(colors, want) {
		t.Errorf("got %v", colors)
	}
}

func TestOtherNames(t *testing.T) {
	for _, f := range []*Format{V04, V05} {
		if _, err := f.Group("info", color()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("group: %v", err)
		}
		if _, err := f.Level(".zgroup", color().Levels[0]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("level: %v", err)
		}
	}
}
