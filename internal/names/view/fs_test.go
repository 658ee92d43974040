package view_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// writeDataset writes a dataset and returns its directory. Layer color has mag 1 with two cubes of 2³ blocks of 4³
// voxels, at 0,0,0 and 3,1,0.
func writeDataset(t *testing.T) (dir string, src voxeltest.Source) {
	t.Helper()
	dir = t.TempDir()
	src = voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(8), volume.Cube(4), volume.Uint16, 1)}
	for _, name := range []string{"z0/y0/x0.wkw", "z0/y1/x3.wkw"} {
		path := filepath.Join(dir, "color/1", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := wkw.WriteCube(context.Background(), path, wkw.LZ4, src); err != nil {
			t.Fatal(err)
		}
	}
	properties := `{"scale":[4,4,40],"dataLayers":[{"name":"color","boundingBox":{"topLeft":[0,0,0],"width":32,"height":16,"depth":8}}]}`
	if err := os.WriteFile(filepath.Join(dir, webknossos.PropertiesFile), []byte(properties), 0o640); err != nil {
		t.Fatal(err)
	}
	return dir, src
}

// open returns the tree of the source at name in dir.
func open(t *testing.T, dir, name string) *view.FS {
	t.Helper()
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	root, err := webknossos.Recognise(fsys, name, webknossos.Options{Name: filepath.Base(name)})
	if err != nil {
		t.Fatal(err)
	}
	return view.New(root, view.Options{})
}

// TestTreeRoots lists the root of each kind of source.
func TestTreeRoots(t *testing.T) {
	dir, _ := writeDataset(t)
	for source, want := range map[string]string{
		".":                    "color datasource-properties.json",
		"color":                "1 ome-v3.zarr ome.zarr precomputed",
		"color/1":              "box slices volume.json volume.mhd volume.nhdr volume.nii volume.npy volume.nrrd volume.raw volume.tif volume.xmf z0",
		"color/1/z0/y0/x0.wkw": "x0.blocks x0.raw",
	} {
		entries, err := fs.ReadDir(open(t, dir, source), ".")
		if err != nil {
			t.Errorf("%s: %v", source, err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: got %q, expected %q", source, got, want)
		}
	}
}

// TestTreeReads compares cubes and blocks with the model.
func TestTreeReads(t *testing.T) {
	dir, src := writeDataset(t)
	tree := open(t, dir, ".")
	got, err := fs.ReadFile(tree, "color/1/z0/y1/x3.raw")
	if err != nil || !slices.Equal(got, src.Flat(volume.Box{Max: volume.Cube(8)})) {
		t.Errorf("cube: %d bytes, error %v", len(got), err)
	}
	for b := range (volume.Box{Max: volume.Cube(2)}).All() {
		name := "color/1/z0/y1/x3.blocks/z" + string('0'+rune(b[2])) + "/y" + string('0'+rune(b[1])) + "/x" +
			string('0'+rune(b[0])) + ".raw"
		got, err := fs.ReadFile(tree, name)
		if err != nil || !slices.Equal(got, src.Flat(src.Shape.BlockBox(b))) {
			t.Errorf("%s: %d bytes, error %v", name, len(got), err)
		}
	}
}

func TestTreeMissingNames(t *testing.T) {
	dir, _ := writeDataset(t)
	tree := open(t, dir, ".")
	for _, name := range []string{
		"nothing", "color/2", "color/01", "color/1/z1", "color/1/z00", "color/1/z0/y0/x1.raw",
		"color/1/z0/y0/x1.blocks", "color/1/z0/y0/x0",
		"color/1/z0/y0/x0.wkw", "color/1/header.wkw", "color/1/z0/y0/x+0.raw", "color/1/z0/y0/x0.blocks/z2",
		"color/1/z0/y0/x0.blocks/z0/y0/x2.raw",
		"color/1/z0/y0/x0.blocks/z0/y9/x0.raw", "color/1/z0/y0/x1.blocks/z0/y0/x0.raw", "color/1/z0/y0/x0.raw/x",
		"color/1/z99999999999999999999",
	} {
		if _, err := tree.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("stat %s: got %v, expected fs.ErrNotExist", name, err)
		}
		if _, err := tree.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %s: got %v, expected fs.ErrNotExist", name, err)
		}
	}
}

// TestTreeAttributes checks sizes, times and permissions. Times and permissions are those of the source, without write
// permission.
func TestTreeAttributes(t *testing.T) {
	dir, _ := writeDataset(t)
	cube := filepath.Join(dir, "color/1/z0/y0/x0.wkw")
	if err := os.Chmod(cube, 0o640); err != nil {
		t.Fatal(err)
	}
	stored, err := os.Stat(cube)
	if err != nil {
		t.Fatal(err)
	}
	tree := open(t, dir, ".")
	for name, want := range map[string]struct {
		size int64
		mode fs.FileMode
	}{
		"color/1/z0/y0/x0.raw":                    {1024, 0o440},
		"color/1/z0/y0/x0.blocks":                 {0, fs.ModeDir | 0o550},
		"color/1/z0/y0/x0.blocks/z1/y0":           {0, fs.ModeDir | 0o550},
		"color/1/z0/y0/x0.blocks/z1/y0/x1.raw":    {128, 0o440},
		"color/1/z0/y0/x0.blocks/z1/y1/../y0/x1.": {-1, 0},
	} {
		info, err := tree.Stat(name)
		if want.size < 0 {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if info.Size() != want.size || info.Mode() != want.mode || !info.ModTime().Equal(stored.ModTime()) {
			t.Errorf("%s: got %d bytes, %v, %v; expected %d, %v, %v", name, info.Size(), info.Mode(), info.ModTime(),
				want.size, want.mode, stored.ModTime())
		}
	}
}

// TestTreeChanges changes the source of an open file. The open file has the old content or fails. The next open shows
// the new content.
func TestTreeChanges(t *testing.T) {
	const cubeFile = "color/1/z0/y0/x0.raw"
	read := func(t *testing.T, f fs.File) ([]byte, error) {
		t.Helper()
		p := make([]byte, 1024)
		_, err := vfs.ReadAt(context.Background(), f, p, 0)
		return p, err
	}
	for _, c := range []struct {
		name    string
		change  func(t *testing.T, cube string)
		fails   bool // the open file fails with vfs.ErrChanged
		missing bool // the name does not exist afterwards
	}{
		{"replaced", func(t *testing.T, cube string) {
			src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(8), volume.Cube(4), volume.Uint16, 1),
				Absent: map[volume.Vec]bool{{}: true}}
			if err := wkw.WriteCube(context.Background(), cube, wkw.Raw, src); err != nil {
				t.Fatal(err)
			}
		}, false, false},
		{"removed", func(t *testing.T, cube string) {
			if err := os.Remove(cube); err != nil {
				t.Fatal(err)
			}
		}, false, true},
		{"written in place", func(t *testing.T, cube string) {
			b, err := os.ReadFile(cube)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(cube, append(b, 0), 0); err != nil {
				t.Fatal(err)
			}
		}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, src := writeDataset(t)
			tree := open(t, dir, ".")
			f, err := tree.Open(cubeFile)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			before, _ := f.Stat()
			c.change(t, filepath.Join(dir, "color/1/z0/y0/x0.wkw"))
			got, err := read(t, f)
			if c.fails != errors.Is(err, vfs.ErrChanged) || !c.fails && err != nil {
				t.Errorf("open file: error %v", err)
			}
			if err == nil && !slices.Equal(got, src.Flat(volume.Box{Max: volume.Cube(8)})) {
				t.Error("open file: other content")
			}
			after, err := tree.Stat(cubeFile)
			if c.missing {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("afterwards: got %v, expected fs.ErrNotExist", err)
				}
				return
			}
			if err != nil || vfs.VersionOf(before) == vfs.VersionOf(after) {
				t.Errorf("afterwards: the same version, error %v", err)
			}
		})
	}
}

func TestSeek(t *testing.T) {
	dir, src := writeDataset(t)
	f, err := open(t, dir, ".").Open("color/1/z0/y0/x0.raw")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.(io.Seeker).Seek(-100, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f)
	if want := src.Flat(volume.Box{Max: volume.Cube(8)}); err != nil || !slices.Equal(got, want[len(want)-100:]) {
		t.Errorf("the last 100 bytes: got %d bytes, error %v", len(got), err)
	}
}
