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
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/store"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/internal/view"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// writeDataset writes a layer "color" with mag 1 of two cubes of 2³ blocks of 4³
// voxels, at 0,0,0 and 3,1,0, and returns its directory.
func writeDataset(t *testing.T) (dir string, src coords) {
	t.Helper()
	dir = t.TempDir()
	src = coords{grid: grid(volume.Cube(8), volume.Cube(4), volume.Uint16, 1)}
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
	if err := os.WriteFile(filepath.Join(dir, wkw.PropertiesFile), []byte(properties), 0o640); err != nil {
		t.Fatal(err)
	}
	return dir, src
}

// open shows what is at name in dir as files.
func open(t *testing.T, dir, name string) *view.FS {
	t.Helper()
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	root, err := wkw.Recognise(fsys, name, wkw.Options{Name: filepath.Base(name)})
	if err != nil {
		t.Fatal(err)
	}
	return view.New(root, view.Options{})
}

func TestTreeIsAFileSystem(t *testing.T) {
	dir, _ := writeDataset(t)
	err := fstest.TestFS(open(t, dir, "."), "datasource-properties.json", "color/1/z0/y0/x0.raw", "color/1/z0/y1/x3.blocks/z1/y0/x1.raw")
	if err != nil {
		t.Error(err)
	}
}

// TestTreeBeginsAtItsSource holds what a mount of each kind of source shows at its top.
func TestTreeBeginsAtItsSource(t *testing.T) {
	dir, _ := writeDataset(t)
	for source, want := range map[string]string{
		".":                    "color datasource-properties.json",
		"color":                "1 precomputed",
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
			t.Errorf("%s: shows %q, want %q", source, got, want)
		}
	}
}

// TestTreeReads holds that cubes and blocks have the bytes of the model.
func TestTreeReads(t *testing.T) {
	dir, src := writeDataset(t)
	tree := open(t, dir, ".")
	got, err := fs.ReadFile(tree, "color/1/z0/y1/x3.raw")
	if err != nil || !slices.Equal(got, naive(src, volume.Box{Max: volume.Cube(8)})) {
		t.Errorf("cube: %d bytes, error %v", len(got), err)
	}
	for b := range (volume.Box{Max: volume.Cube(2)}).All() {
		name := "color/1/z0/y1/x3.blocks/z" + string('0'+rune(b[2])) + "/y" + string('0'+rune(b[1])) + "/x" + string('0'+rune(b[0])) + ".raw"
		got, err := fs.ReadFile(tree, name)
		if err != nil || !slices.Equal(got, naive(src, src.grid.BlockBox(b))) {
			t.Errorf("%s: %d bytes, error %v", name, len(got), err)
		}
	}
}

func TestTreeHasNothingElse(t *testing.T) {
	dir, _ := writeDataset(t)
	tree := open(t, dir, ".")
	for _, name := range []string{
		"nothing", "color/2", "color/01", "color/1/z1", "color/1/z00", "color/1/z0/y0/x1.raw", "color/1/z0/y0/x1.blocks", "color/1/z0/y0/x0",
		"color/1/z0/y0/x0.wkw", "color/1/header.wkw", "color/1/z0/y0/x+0.raw", "color/1/z0/y0/x0.blocks/z2", "color/1/z0/y0/x0.blocks/z0/y0/x2.raw",
		"color/1/z0/y0/x0.blocks/z0/y9/x0.raw", "color/1/z0/y0/x1.blocks/z0/y0/x0.raw", "color/1/z0/y0/x0.raw/x", "color/1/z99999999999999999999",
	} {
		if _, err := tree.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("stat %s: %v, want that it does not exist", name, err)
		}
		if _, err := tree.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %s: %v, want that it does not exist", name, err)
		}
	}
}

// TestTreeDescribes holds sizes, times and permissions: those of the source, without
// those to write.
func TestTreeDescribes(t *testing.T) {
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
			t.Errorf("%s: %d bytes, %v, %v; want %d, %v, %v", name, info.Size(), info.Mode(), info.ModTime(), want.size, want.mode, stored.ModTime())
		}
	}
}

// TestTreeStaysConsistent holds what an open file shows when the source changes:
// what it was, or an error; and that the next open shows the new content.
func TestTreeStaysConsistent(t *testing.T) {
	const name = "color/1/z0/y0/x0.raw"
	read := func(t *testing.T, f fs.File) ([]byte, error) {
		t.Helper()
		p := make([]byte, 1024)
		_, err := vfs.ReadAt(context.Background(), f, p, 0)
		return p, err
	}
	for _, c := range []struct {
		what    string
		change  func(t *testing.T, cube string)
		fails   bool // the open file, with vfs.ErrChanged
		missing bool // the name, afterwards
	}{
		{"replaced", func(t *testing.T, cube string) {
			src := coords{grid: grid(volume.Cube(8), volume.Cube(4), volume.Uint16, 1), absent: map[volume.Vec]bool{{}: true}}
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
		t.Run(c.what, func(t *testing.T) {
			dir, src := writeDataset(t)
			tree := open(t, dir, ".")
			f, err := tree.Open(name)
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
			if err == nil && !slices.Equal(got, naive(src, volume.Box{Max: volume.Cube(8)})) {
				t.Error("open file: not its old content")
			}
			after, err := tree.Stat(name)
			if c.missing {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("afterwards: %v, want that it does not exist", err)
				}
				return
			}
			if err != nil || vfs.VersionOf(before) == vfs.VersionOf(after) {
				t.Errorf("afterwards: the same version, error %v", err)
			}
		})
	}
}

func TestTreeFilesSeek(t *testing.T) {
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
	if want := naive(src, volume.Box{Max: volume.Cube(8)}); err != nil || !slices.Equal(got, want[len(want)-100:]) {
		t.Errorf("the last 100 bytes: %d, error %v", len(got), err)
	}
}
