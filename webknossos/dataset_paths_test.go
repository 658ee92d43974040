package webknossos

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// TestPathComesFirst shows that the metadata decides between two directories.
func TestPathComesFirst(t *testing.T) {
	var w warnings
	d := datasetOf(t, &w, magAt("color/1"), magAt("color/2"), magAt("color/4"), magAt("storage/a"), described(
		`{"name": "color", "mags": [{"mag": 1, "path": "storage/a"}, {"mag": 2, "path": "storage/gone"}, {"mag": 4, "path": "/storage/a"}]}`,
	))
	l, err := d.Layer("color")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"1": "storage/a", "2": "color/2", "4": "color/4"} {
		m, err := l.Mag(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.(*mag).dir; got != want {
			t.Errorf("mag %s: got %s, expected %s", name, got, want)
		}
	}
}

// TestOutsideReasons: a layer whose mags are all outside of the dataset says why it is not shown, whether such paths
// are followed or not.
func TestOutsideReasons(t *testing.T) {
	files := fstest.MapFS{PropertiesFile: {Data: []byte(`{"dataLayers": [
		{"name": "far", "mags": [{"mag": 1}, {"mag": 2, "path": "file:///far/2"}, {"mag": 4, "path": "s3://far/4"}]},
		{"name": "near", "mags": [{"mag": 1, "path": "near/1"}]}]}`)}}
	for want, outside := range map[string]func(string) (fs.FS, error){
		"; --follow-links follows it": nil,
		": no mag found there":        func(string) (fs.FS, error) { return fstest.MapFS{}, nil },
		": permission denied":         func(string) (fs.FS, error) { return nil, fs.ErrPermission },
	} {
		d := newDataset(files, ".", Options{Outside: outside, Log: slog.New(slog.DiscardHandler)})
		got := omissions(d)
		if len(got) != 2 || got[0] != `far: no mags found: mag 2: its path "file:///far/2" leads out of the dataset`+
			want || got[1] != "near: no mags found" {
			t.Errorf("got %q, expected %q", got, want)
		}
	}
}

func TestAbsent(t *testing.T) {
	var w warnings
	d := datasetOf(t, &w, magAt("color/1"), entries{"empty": folder{}, "color/2": folder{}, "color/meshes": folder{}})
	for _, name := range []string{"none", "empty", "", ".", "..", "color/1", "../source/color", "/", "color\x00",
		PropertiesFile, strings.Repeat("x", 300)} {
		if l, err := d.Layer(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("layer %q: got %v, %v", name, l, err)
		}
	}
	l, err := d.Layer("color")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"2", "4", "meshes", "", ".", "01", "1-1-1", "0", "1/z0", "../color/1", "1\x00"} {
		if m, err := l.Mag(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("mag %q: got %v, %v", name, m, err)
		}
	}
}

// TestPlacement shows that origin, spacing and box are those of the metadata.
func TestPlacement(t *testing.T) {
	var w warnings
	d := datasetOf(t, &w, magAt("color/2-2-1"), entries{
		"color/2-2-1/z3/y4/x5.wkw": soundCube,
		PropertiesFile: `{"scale": {"factor": [0.004, 0.004, 0.04], "unit": "micrometer"}, "dataLayers": [{"name": "color",
			"boundingBox": {"topLeft": [3, 4, 5], "width": 6, "height": 7, "depth": 8}}]}`,
	})
	l, err := d.Layer("color")
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Mag("2-2-1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.OpenCube(volume.Vec{5, 4, 3})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := smallCube.Grid()
	want.Origin, want.Spacing = volume.Vec{10, 8, 6}, [3]float64{8, 8, 40}
	if f.Grid() != want {
		t.Errorf("got %+v, expected %+v", f.Grid(), want)
	}
	if box, err := m.Bounds(); err != nil || box.String() != "1-5_2-6_5-13" {
		t.Errorf("got %v, %v", box, err)
	}
}

// TestAddedLater shows that a layer and a mag are found that are added while the dataset is in use.
func TestAddedLater(t *testing.T) {
	dir := t.TempDir()
	add := func(name string) {
		t.Helper()
		if err := writeEntry(filepath.Join(dir, name, headerFile), soundHeader); err != nil {
			t.Fatal(err)
		}
	}
	add("color/1")
	d := newDataset(os.DirFS(dir), ".", Options{})
	if _, err := d.Layer("seg"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	add("seg/1")
	seg, err := d.Layer("seg")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := seg.Mag("2"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	add("seg/2")
	if mags, err := seg.Mags(); err != nil || !slices.Equal(mags, []string{"1", "2"}) {
		t.Errorf("got %v, %v", mags, err)
	}
	if _, err := seg.Mag("2"); err != nil {
		t.Error(err)
	}
}

func TestFiles(t *testing.T) {
	var w warnings
	d := datasetOf(t, &w, magAt("color/1"), described(), entries{"secret": "x"})
	if got, err := fs.ReadDir(d.Files(), "."); err != nil || len(got) != 1 || got[0].Name() != PropertiesFile {
		t.Errorf("got %v, %v", got, err)
	}
	if b, err := fs.ReadFile(d.Files(), PropertiesFile); err != nil || !strings.HasPrefix(string(b), `{"scale"`) {
		t.Errorf("got %q, %v", b, err)
	}
	for _, name := range []string{"secret", "color", "color/1/header.wkw", "../" + PropertiesFile,
		"./" + PropertiesFile, ""} {
		if _, err := d.Files().Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := fs.ReadDir(d.Files(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, c := range []struct {
		in   entries
		want string // empty: there is no such file
	}{
		{magAt("color/1"), ""},
		{entries{PropertiesFile: folder{}}, PropertiesFile + ": expected a regular file, found a directory"},
		{entries{PropertiesFile: fifo{}}, PropertiesFile + ": expected a regular file, found a FIFO"},
		{entries{PropertiesFile: link("gone")}, PropertiesFile + ": a symbolic link that leads nowhere"},
		{entries{PropertiesFile: link("color")}, PropertiesFile + ": expected a regular file, found a directory"},
	} {
		d := datasetOf(t, &w, magAt("color/1"), c.in)
		if got, err := fs.ReadDir(d.Files(), "."); err != nil || len(got) == 0 != (c.want == "") {
			t.Errorf("%v: got %v, %v", c.in, got, err)
		}
		_, err := d.Files().Open(PropertiesFile)
		if c.want == "" && !errors.Is(err, fs.ErrNotExist) || c.want != "" && (errors.Is(err, fs.ErrNotExist) ||
			!strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: got %v, expected %s", c.in, err, c.want)
		}
		if found := d.CheckMetadata(); len(found) == 0 != (c.want == "") {
			t.Errorf("%v: got %v", c.in, found)
		}
	}
}
