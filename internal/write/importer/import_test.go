package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// names returns the paths below dir that end with end.
func names(t *testing.T, dir, end string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, end) {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestMetadata: existing metadata does not change.
func TestMetadata(t *testing.T) {
	dir := voxeltest.TempDir(t)
	const before = `{"version": 7, "name": "<cortex> & co", "dataLayers": [
		{"name": "first", "category": "color", "a number": 1.10, "mags": [{"mag": 1, "path": "./first/1"}]},
		{"dataFormat": "zarr3", "name": "second", "mags": []}], "scale": [11.24, 11.24, 25], "later": {"b": 1, "a": null}}`
	write(t, filepath.Join(dir, webknossos.PropertiesFile), []byte(before))
	if err := os.Chmod(filepath.Join(dir, webknossos.PropertiesFile), 0o640); err != nil {
		t.Fatal(err)
	}
	a := array(volume.Uint8, 3)
	in := mustOpen(t, voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".tif"))
	for _, layer := range []string{"third", "first"} {
		o := small(layer)
		o.Force = layer == "first"
		if err := Import(t.Context(), in, dir, o); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, webknossos.PropertiesFile))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Compact(&got, b); err != nil {
		t.Fatal(err)
	}
	layer := func(name string) string {
		return `{"name":"` + name +
			`","category":"color","boundingBox":{"topLeft":[5,30,11],"width":37,"height":21,"depth":19},` +
			`"elementClass":"uint24","dataFormat":"wkw","numChannels":3,"mags":[{"mag":[1,1,1],"path":"./` + name +
			`/1","cubeLength":16}]}`
	}
	want := `{"version":7,"name":"<cortex> & co","dataLayers":[` + layer("first") +
		`,{"dataFormat":"zarr3","name":"second","mags":[]},` + layer("third") +
		`],"scale":[11.24,11.24,25],"later":{"b":1,"a":null},"id":{"name":"` + filepath.Base(dir) + `","team":""}}`
	if got.String() != want {
		t.Errorf("got  %s\nwant %s", got.String(), want)
	}
	if info, _ := os.Stat(filepath.Join(dir, webknossos.PropertiesFile)); info.Mode().Perm() != 0o640 {
		t.Errorf("permissions: %v", info.Mode())
	}
}

func TestElementClass(t *testing.T) {
	for want, of := range map[string]struct {
		t        volume.Type
		channels int
	}{
		"uint8": {volume.Uint8, 1}, "uint24": {volume.Uint8, 3}, "int64": {volume.Int64, 1},
		"uint32": {volume.Uint16, 2},
		"float":  {volume.Float32, 1}, "double": {volume.Float64, 1}, "float96": {volume.Float32, 3},
	} {
		if got := elementClass(of.t, of.channels); got != want {
			t.Errorf("%d × %v: got %s, want %s", of.channels, of.t, got, want)
		}
	}
}

// TestImportErrors: the import rejects these options and inputs before it writes anything.
func TestImportErrors(t *testing.T) {
	for name, test := range map[string]struct {
		change   func(*Options)
		metadata string
		typ      volume.Type
		channels int
		want     string
	}{
		"no name": {func(o *Options) { o.Layer = "" }, "", volume.Uint8, 1, "layer is missing"},
		"a path":  {func(o *Options) { o.Layer = "../l" }, "", volume.Uint8, 1, `layer "../l"`},
		"sides": {func(o *Options) { o.Block, o.Cube = 32, 48 }, "", volume.Uint8, 1,
			"cubes with sides of 48 voxels"},
		"no power of two": {func(o *Options) { o.Block, o.Cube = 12, 24 }, "", volume.Uint8, 1,
			"expected a power of two"},
		"huge blocks": {func(o *Options) { o.Block, o.Cube = 2048, 2048 }, "", volume.Uint8, 1,
			"expected at most 1073741824"},
		"wide voxels": {func(*Options) {}, "", volume.Uint64, 32, "expected 1 to 255 bytes"},
		"category": {func(o *Options) { o.Category = "colour" }, "", volume.Uint8, 1,
			`category "colour"`},
		"ids of floats": {func(o *Options) { o.Category = Segmentation }, "", volume.Float32, 1,
			"a segmentation of 1 × float32"},
		"ids of channels": {func(o *Options) { o.Category = Segmentation }, "", volume.Uint32, 2,
			"a segmentation of 2 × uint32"},
		"negative position": {func(o *Options) { o.Offset = &volume.Vec{-1, 0, 0} }, "", volume.Uint8, 1,
			"at -1,0,0: expected positions and sizes from 0"},
		"another voxel size": {func(*Options) {}, `{"scale": [11.24, 11.24, 30]}`, volume.Uint8, 1,
			"all layers of the dataset have voxels of 11.24 × 11.24 × 30 nm"},
		"a layer in the metadata": {func(*Options) {}, `{"scale": [11.24, 11.24, 25], "dataLayers": [{"name": "l"}]}`,
			volume.Uint8, 1, ErrExists.Error()},
		"metadata is not JSON": {func(*Options) {}, `{`, volume.Uint8, 1, "datasource-properties.json"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := voxeltest.TempDir(t)
			a := array(test.typ, test.channels)
			in := mustOpenRaw(t, voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".raw"), a.Grid)
			out := filepath.Join(dir, "out")
			if test.metadata != "" {
				if err := os.Mkdir(out, 0o777); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(out, webknossos.PropertiesFile), []byte(test.metadata))
			}
			o := small("l")
			test.change(&o)
			if err := Import(t.Context(), in, out, o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if entries, _ := os.ReadDir(out); len(entries) > 1 {
				t.Errorf("written: %v", entries)
			}
		})
	}
}

// TestKilledFirst: an import that was killed before it had a journal leaves a directory, perhaps with a temporary file.
// The same command goes on.
func TestKilledFirst(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := array(volume.Uint8, 1)
	name := voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".npy")
	o := small("l")
	o.VoxelSize = spacing
	if err := os.Mkdir(filepath.Join(dir, "l"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "l/..import.json.ABC.tmp"), nil)
	if err := Import(t.Context(), mustOpen(t, name), dir, o); err != nil {
		t.Fatal(err)
	}
	if left := names(t, dir, ".tmp"); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	for _, other := range []string{"directory", "link"} { // neither is what an import leaves
		o.Layer = "m" + other
		path := filepath.Join(dir, o.Layer)
		if other == "link" {
			if err := os.Symlink("nowhere", path); err != nil {
				t.Fatal(err)
			}
		} else if err := os.MkdirAll(filepath.Join(path, "1"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := Import(t.Context(), mustOpen(t, name), dir, o); !errors.Is(err, ErrExists) {
			t.Errorf("a %s has the name: got %v, want %v", other, err, ErrExists)
		}
	}
}

// TestScale: the voxel size comes from the options, the dataset or the header.
func TestScale(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := array(volume.Uint8, 1)
	name := voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".npy") // has no voxel size
	if err := Import(t.Context(), mustOpen(t, name), dir, small("l")); !errors.Is(err, ErrNoScale) {
		t.Errorf("got %v, want %v", err, ErrNoScale)
	}
	o := small("l")
	o.VoxelSize = spacing
	if err := Import(t.Context(), mustOpen(t, name), dir, o); err != nil {
		t.Fatal(err)
	}
	if err := Import(t.Context(), mustOpen(t, name), dir, small("m")); err != nil {
		t.Errorf("into a dataset with a voxel size: %v", err)
	}
	if err := Import(t.Context(), mustOpen(t, name), dir, small("m")); !errors.Is(err, ErrExists) {
		t.Errorf("got %v, want %v", err, ErrExists)
	}
}

// TestCategory: type, channels, header and options decide whether a layer is a segmentation.
func TestCategory(t *testing.T) {
	bools := append(
		[]byte("\x93NUMPY\x01\x00\x49\x00{'descr': '|b1', 'fortran_order': True, 'shape': (1, 1, 1), }           \n"),
		1)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "flags.npy"), bools)
	a := array(volume.Uint8, 1)
	write(t, filepath.Join(dir, "volume.raw"), voxeltest.Pattern(a.Grid))
	for _, test := range []struct {
		name, option, want string
		in                 *arrayfile.Array
	}{
		{"bytes", "", Color, mustOpenRaw(t, filepath.Join(dir, "volume.raw"), a.Grid)},
		{"labels", "", Segmentation, mustOpen(t, filepath.Join(dir, "flags.npy"))},
		{"labels as an image", Color, Color, mustOpen(t, filepath.Join(dir, "flags.npy"))},
	} {
		l := &layer{Options: Options{Category: test.option}, in: test.in}
		if err := l.setCategory(t.Context()); err != nil || l.Category != test.want {
			t.Errorf("%s: got %q, %v, want %q", test.name, l.Category, err, test.want)
		}
	}
}
