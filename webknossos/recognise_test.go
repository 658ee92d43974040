package webknossos

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// kind returns the name of the field of a Root that is set.
func kind(r volume.Root) string {
	var kinds []string
	if r.Dataset != nil {
		kinds = append(kinds, "dataset")
	}
	if r.Layer != nil {
		kinds = append(kinds, "layer")
	}
	if r.Mag != nil {
		kinds = append(kinds, "mag")
	}
	if r.Cube != nil {
		kinds = append(kinds, "cube "+r.Cube.Name)
	}
	return strings.Join(kinds, ", ")
}

func TestRecognise(t *testing.T) {
	fsys := source(t, magAt("ds/color/1"), magAt("ds/color/2-2-1"), entries{
		"ds/datasource-properties.json":     "{}",
		"bare/color/1/z0/y0/x0.wkw":         soundCube,
		"digits/1/1/header.wkw":             soundHeader,
		"digits/2/1/header.wkw":             soundHeader,
		"other/datasource-properties.json":  `{"dataLayers": [{"name": "z", "dataFormat": "zarr3"}]}`,
		"broken/datasource-properties.json": `{`,
		"annotation/1/z48/y5444/x5748.wkw":  soundCube,
		"annotation/16/z3/y340/x359.wkw":    soundCube,
		"lone/volume.wkw":                   soundCube,
		"lone/z7/y8/x9.wkw":                 badCube,
		"lone/link.wkw":                     link("volume.wkw"),
		"link":                              link("ds/color"),
		"out":                               link("/tmp"),
		"gone":                              link("nothing"),
		"empty":                             folder{},
		"deep/a/b/color/1/header.wkw":       soundHeader,
		"pictures/1/x0.png":                 "",
		"text":                              "just text, and long enough for a header",
		"short":                             "WKW\x01",
		"fifo":                              fifo{},
	})
	for _, c := range []struct{ name, want, err string }{
		{name: "ds", want: "dataset"},
		{name: "bare", want: "dataset"},
		{name: "digits", want: "dataset"},
		{name: "other", want: "dataset"},
		{name: "broken", want: "dataset"},
		{name: ".", want: "dataset"}, // annotation is one of its layers
		{name: "ds/color", want: "layer"},
		{name: "link", want: "layer"},
		{name: "annotation", want: "layer"},
		{name: "digits/2", want: "layer"},
		{name: "ds/color/2-2-1", want: "mag"},
		{name: "bare/color/1", want: "mag"},
		{name: "lone", want: "mag"},
		{name: "ds/color/1/z0/y0/x0.wkw", want: "cube x0"},
		{name: "lone/volume.wkw", want: "cube volume"},
		{name: "lone/link.wkw", want: "cube link"},

		{name: "nothing", err: "no such file"},
		{name: "gone", err: "no such file"},
		{name: "out", err: "leads out of SOURCE"},
		{name: "empty", err: ErrNotRecognised.Error()},
		{name: "deep", err: ErrNotRecognised.Error()},
		{name: "pictures", err: ErrNotRecognised.Error()},
		{name: "ds/color/1/z0", err: ErrNotRecognised.Error()},
		{name: "text", err: `text: magic at byte 0: expected "WKW", found "jus"`},
		{name: "short", err: "short: header at byte 0: expected 16 bytes, found 4"},
		{name: "lone/z7/y8/x9.wkw", err: "magic at byte 0"},
		{name: "ds/color/1/header.wkw", err: "dataOffset at byte 8: expected at least 16, found 0"},
		{name: "ds/datasource-properties.json", err: "header at byte 0"},
		{name: "fifo", err: "expected a regular file, found a FIFO"},
		{name: "../ds", err: "invalid"},
	} {
		got, err := Recognise(fsys, c.name, Options{Name: path.Base(c.name)})
		switch {
		case c.err == "" && (err != nil || kind(got) != c.want):
			t.Errorf("%s: got %q, %v, expected %s", c.name, kind(got), err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || kind(got) != "" && got.Cube != nil):
			t.Errorf("%s: got %q, %v, expected %q", c.name, kind(got), err, c.err)
		}
	}
}

func TestRecogniseCube(t *testing.T) {
	fsys := source(t, entries{"x0.wkw": soundCube})
	root, err := Recognise(fsys, "x0.wkw", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if root.Cube.Grid != smallCube.Grid() {
		t.Errorf("got %+v", root.Cube.Grid)
	}
	info, err := root.Cube.Stat()
	if err != nil || info.Size() != int64(len(soundCube)) {
		t.Errorf("got %v, %v", info, err)
	}
	f, err := root.Cube.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// TestRecogniseInside opens a layer and a mag as the source. Their box and scale are those in the metadata of the
// dataset above.
func TestRecogniseInside(t *testing.T) {
	props := &Properties{
		Scale: Scale{4, 4, 40},
		Layers: []LayerProperties{
			{Name: "color", BoundingBox: &BoundingBox{Corner{2, 2, 2}, 4, 4, 4},
				Mags: []MagProperties{{Mag: FactorProperty{1, 1, 1}}, {Mag: FactorProperty{4, 4, 4}}}},
			{Name: "seg", BoundingBox: &BoundingBox{Corner{8, 8, 8}, 4, 4, 4}},
		},
	}
	fsys := source(t, magAt("color/2-2-1"), magAt("color/1"), magAt("color/raw"))
	parentAt := func(levels int) func(int) Parent {
		return func(asked int) Parent {
			if asked != levels {
				t.Errorf("asked for the dataset %d levels parentAt, expected %d", asked, levels)
			}
			return Parent{props, "color"}
		}
	}
	root, err := Recognise(fsys, "color", Options{Name: "color", Parent: parentAt(1)})
	if err != nil {
		t.Fatal(err)
	}
	layerMag, err := root.Layer.Mag("2-2-1")
	if err != nil {
		t.Fatal(err)
	}
	if got := omissions(root.Layer.(volume.Omitter)); !slices.Equal(got, []string{"4: not in the source"}) {
		t.Errorf("got %q", got)
	}
	mag := func(name string) volume.Mag {
		t.Helper()
		root, err := Recognise(fsys, name, Options{Name: path.Base(name), Parent: parentAt(2)})
		if err != nil {
			t.Fatal(err)
		}
		return root.Mag
	}
	for _, c := range []struct {
		name    string
		m       volume.Mag
		bounds  string
		spacing [3]float64
	}{
		{"mag of a layer", layerMag, "1-3_1-3_2-6", [3]float64{8, 8, 40}},
		{"mag", mag("color/2-2-1"), "1-3_1-3_2-6", [3]float64{8, 8, 40}},
		{"mag 1", mag("color/1"), "2-6_2-6_2-6", [3]float64{4, 4, 40}},
		{"mag whose name is not a factor", mag("color/raw"), "0-2_0-2_0-2", [3]float64{}},
	} {
		box, err := c.m.Bounds()
		if err != nil || box.String() != c.bounds {
			t.Errorf("%s: got %v, %v, expected %s", c.name, box, err, c.bounds)
		}
		if g, err := c.m.CubeGrid(); err != nil || g.Spacing != c.spacing {
			t.Errorf("%s: got %v, %v, expected %v", c.name, g.Spacing, err, c.spacing)
		}
	}
}

// forbidden is a file system in which a directory cannot be listed.
type forbidden struct {
	fstest.MapFS
	dir string
}

func (f forbidden) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == f.dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrPermission}
	}
	return f.MapFS.ReadDir(name)
}

func TestRecogniseForbidden(t *testing.T) {
	fsys := forbidden{fstest.MapFS{"color/1/z0/y0/x0.wkw": {Data: soundCube}}, "color"}
	if _, err := Recognise(fsys, "color", Options{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v, expected that it is not permitted", err)
	}
}

// manifestMag is a mag in a manifest of the reference data, with the fields that this package uses.
type manifestMag struct {
	Dataset, Layer, Mag string
	DType               string `json:"dtype"`
	Channels            int
	Block, Cube         int
	Cubes               map[string]struct{}
	TopLeft             volume.Vec `json:"top_left"`
	Size                volume.Vec
}

// TestReferenceCatalogue opens all layers, mags and cubes of datasets that other programs wrote.
func TestReferenceCatalogue(t *testing.T) {
	for _, set := range refdata.WKW() {
		dir := refdata.Dir(t, set)
		b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		var mags []manifestMag
		if err := json.Unmarshal(b, &mags); err != nil {
			t.Fatal(err)
		}
		for _, want := range mags {
			t.Run(path.Join(set, want.Dataset, want.Layer, want.Mag), func(t *testing.T) {
				fsys, err := store.Open(filepath.Join(dir, want.Dataset))
				if err != nil {
					t.Fatal(err)
				}
				defer fsys.Close()
				root, err := Recognise(fsys, ".", Options{Name: set})
				expected := "dataset"
				if want.Layer == "" {
					expected = "layer"
				}
				if err != nil || kind(root) != expected {
					t.Fatalf("got %q, %v, expected a %s", kind(root), err, expected)
				}
				checkCatalogue(t, root, want)
			})
		}
	}
}

func checkCatalogue(t *testing.T, root volume.Root, want manifestMag) {
	t.Helper()
	layer := root.Layer
	var err error
	if root.Dataset != nil {
		if layer, err = root.Dataset.Layer(want.Layer); err != nil {
			t.Fatal(err)
		}
	}
	m, err := layer.Mag(want.Mag)
	if err != nil {
		t.Fatal(err)
	}
	box := volume.Box{Min: want.TopLeft, Max: want.TopLeft.Add(want.Size)}
	if got, err := m.Bounds(); err != nil || got != box {
		t.Errorf("got the bounds %v, %v, expected %v", got, err, box)
	}
	g, err := m.CubeGrid()
	if err != nil {
		t.Fatal(err)
	}
	if g.Size != volume.Cube(want.Cube) || g.Block != volume.Cube(want.Block) || g.Channels != want.Channels {
		t.Errorf("got %+v", g)
	}
	if f, _ := volume.ParseFactor(want.Mag); root.Dataset != nil && g.Spacing[2] != 28*float64(f[2]) {
		t.Errorf("got a spacing of %v", g.Spacing)
	}
	var found int
	for c, err := range volume.AllCubes(m) {
		if err != nil {
			t.Fatal(err)
		}
		found++
		if _, ok := want.Cubes[strings.TrimSuffix(cubeName(c), cubeSuffix)]; !ok {
			t.Errorf("cube %v is not in the manifest", c)
		}
		f, err := m.OpenCube(c)
		if err != nil {
			t.Fatal(err)
		}
		if f.Grid().Origin != c.Mul(g.Size) {
			t.Errorf("cube %v: got the origin %v", c, f.Grid().Origin)
		}
		f.Close()
	}
	if found != len(want.Cubes) {
		t.Errorf("got %d cubes, expected %d", found, len(want.Cubes))
	}
}

// cubeName returns the path of a cube below its mag.
func cubeName(c volume.Vec) string { return (&mag{}).path(c[2], c[1], c[0]) }
