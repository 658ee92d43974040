package subset_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/compose/subset"
	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/volume"
)

// writeSample writes a dataset with the layers color and segmentation, both with the mags 1 and 2.
func writeSample(t *testing.T) string {
	t.Helper()
	o := sample.Defaults()
	o.Box = volume.Box{Min: volume.Vec{10, 20, 30}, Max: volume.Vec{50, 54, 49}}
	o.Block, o.CubeSide, o.Mags, o.Unrecorded = 16, 32, []int{1, 2}, volume.Box{}
	dir := filepath.Join(t.TempDir(), "cortex")
	if err := sample.Write(t.Context(), dir, o); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestOf: the tree of a part has the layers and mags of the options, all with a view for viewers.
func TestOf(t *testing.T) {
	dir := writeSample(t)
	if err := os.Rename(filepath.Join(dir, "segmentation/2"), filepath.Join(dir, "segmentation/4")); err != nil {
		t.Fatal(err)
	}
	both := []string{"color/1", "color/2", "color/precomputed", "segmentation/1", "segmentation/4",
		"segmentation/precomputed"}
	for _, test := range []struct {
		path    string
		options subset.Options
		want    []string
		err     string
		hint    string
	}{
		{".", subset.Options{}, both, "", ""},
		{".", subset.Options{Layers: []string{"segmentation", "color"}}, both, "", ""},
		{".", subset.Options{Layers: []string{"color"}}, both[:3], "", ""},
		{".", subset.Options{Mag: "1"}, []string{"color/1", "color/precomputed", "segmentation/1",
			"segmentation/precomputed"}, "", ""},
		{".", subset.Options{Layers: []string{"color"}, Mag: "2-2-2"}, []string{"color/2", "color/precomputed"}, "",
			""},
		{".", subset.Options{Mag: "4"}, []string{"segmentation/4", "segmentation/precomputed"}, "", ""},
		{".", subset.Options{Mag: "8"}, nil, `--mag: there is no mag "8"`, "the mags are 1, 2, 4"},
		{".", subset.Options{Layers: []string{"color"}, Mag: "4"}, nil, `--mag: there is no mag "4"`,
			"the mags are 1, 2"},
		{".", subset.Options{Layers: []string{"colour"}}, nil, `--layer: there is no layer "colour"`,
			"did you mean color?"},
		{".", subset.Options{Layers: []string{"xyz"}}, nil, `--layer: there is no layer "xyz"`,
			"the layers are color, segmentation"},
		{"color", subset.Options{}, []string{"1", "2", "precomputed"}, "", ""},
		{"color", subset.Options{Mag: "2"}, []string{"2", "precomputed"}, "", ""},
		{"color", subset.Options{Mag: "3"}, nil, `--mag: there is no mag "3"`, "the mags are 1, 2"},
		{"color", subset.Options{Layers: []string{"color"}}, nil,
			"--layer: the source is not a dataset: it has no layers", "leave out --layer, or name the dataset"},
		{"color/2", subset.Options{}, []string{"2", "precomputed"}, "", ""},
		{"color/2", subset.Options{Mag: "1"}, nil, `--mag: there is no mag "1"`, "the mags are 2"},
		{"color/1/z1/y1/x0.wkw", subset.Options{}, []string{"1", "precomputed"}, "", ""},
		{"color/1/z1/y1/x0.wkw", subset.Options{Mag: "2"}, nil, `--mag: there is no mag "2"`, "the mags are 1"},
	} {
		name := fmt.Sprintf("%s %+v", test.path, test.options)
		opened, err := dataset.Open(t.Context(), filepath.Join(dir, test.path), dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		root, err := subset.Of(opened.Root, test.options)
		if test.err != "" {
			var h *hint.Error
			if !errors.As(err, &h) || err.Error() != test.err || h.Hint != test.hint || !h.Usage {
				t.Errorf("%s: error %v, %+v", name, err, h)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := directories(t, view.New(root, view.Options{})); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// directories returns the mags of a tree, and its Precomputed views.
func directories(t *testing.T, tree fs.FS) (found []string) {
	t.Helper()
	err := fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() || name == "." || name == "color" || name == "segmentation" {
			return err
		}
		if path.Ext(name) != ".zarr" {
			found = append(found, name)
		}
		return fs.SkipDir
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestHidden: what the options leave out cannot be reached by its name, and what they take has its bytes.
func TestHidden(t *testing.T) {
	dir := writeSample(t)
	whole, err := dataset.Open(t.Context(), dir, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	root, err := subset.Of(whole.Root, subset.Options{Layers: []string{"color"}, Mag: "2"})
	if err != nil {
		t.Fatal(err)
	}
	part, all := view.New(root, view.Options{}), view.New(whole.Root, view.Options{})
	for _, name := range []string{"color/1", "color/1/volume.raw", "segmentation/2/volume.raw", "color/precomputed/1"} {
		if _, err := fs.Stat(part, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	want, err := fs.ReadFile(all, "color/2/volume.raw")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fs.ReadFile(part, "color/2/volume.raw"); err != nil || string(got) != string(want) {
		t.Errorf("%d bytes, want %d: %v", len(got), len(want), err)
	}
}

// TestCube: a cube is a mag with the voxels of the cube, and no other cubes.
func TestCube(t *testing.T) {
	dir := writeSample(t)
	cube, err := dataset.Open(t.Context(), filepath.Join(dir, "color/1/z1/y1/x0.wkw"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	root, err := subset.Of(cube.Root, subset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain, tree := view.New(cube.Root, view.Options{}), view.New(root, view.Options{})
	want, err := fs.ReadFile(plain, "x0.raw")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"1/volume.raw", "1/z0/y0/x0.raw"} {
		if got, err := fs.ReadFile(tree, name); err != nil || string(got) != string(want) ||
			strings.Count(string(got), "\x00") == len(got) {
			t.Errorf("%s: %d bytes, want %d: %v", name, len(got), len(want), err)
		}
	}
	for _, name := range []string{"1/z1", "1/z0/y1", "1/z0/y0/x1.raw"} {
		if _, err := fs.Stat(tree, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
