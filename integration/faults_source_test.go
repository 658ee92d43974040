package integration

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSourceRenamed renames the source of a mount. The mount stays with the directory. With --follow-links it
// stays with the path.
func TestSourceRenamed(t *testing.T) {
	for _, test := range []struct {
		name    string
		args    []string
		follows bool // whether the mount stays with the directory
	}{
		{"directory", nil, true},
		{"path", []string{"--follow-links"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			source, elsewhere := tempDir(t), filepath.Join(tempDir(t), "elsewhere")
			small.write(t, source, 0, 0, 0)
			small.write(t, source, 1, 0, 0)
			dir := filepath.Join(mount(t, source, test.args...), "z0/y0")
			held := openDirect(t, filepath.Join(dir, "x0.raw"))
			if err := os.Rename(source, elsewhere); err != nil {
				t.Fatal(err)
			}
			small.write(t, elsewhere, 2, 0, 0)
			wantSmallCube(t, held)
			for _, name := range []string{"x1.raw", "x2.raw"} {
				got, err := os.ReadFile(filepath.Join(dir, name))
				switch {
				case test.follows && (err != nil || !bytes.Equal(got, small.flat())):
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				case !test.follows && !errors.Is(err, fs.ErrNotExist):
					t.Errorf("%s: %d bytes, %v; want ENOENT", name, len(got), err)
				}
			}
			if err := os.Rename(elsewhere, source); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"x1.raw", "x2.raw"} {
				wantSmallCube(t, openDirect(t, filepath.Join(dir, name)))
			}
		})
	}
}

// wantSmallCube checks that a file has the voxels of the small cube.
func wantSmallCube(t *testing.T, f *os.File) {
	t.Helper()
	p := make([]byte, len(small.flat()))
	if n, err := f.ReadAt(p, 0); err != nil || !bytes.Equal(p[:n], small.flat()) {
		t.Errorf("%s: %d bytes, %v; want the model's", f.Name(), n, err)
	}
}

// TestSourceRemoved removes the source of a mount. Open cube files read on, and nothing can be opened any more.
// A new source at the same path is a different directory.
func TestSourceRemoved(t *testing.T) {
	source := tempDir(t)
	small.write(t, source, 0, 0, 0)
	small.write(t, source, 1, 0, 0)
	s := mountServer(t, source)
	dir := filepath.Join(s.dir, "z0/y0")
	held := openDirect(t, filepath.Join(dir, "x0.raw"))
	if err := os.RemoveAll(source); err != nil {
		t.Fatal(err)
	}
	wantSmallCube(t, held)
	wantNothing := func() {
		t.Helper()
		for _, name := range []string{"z0/y0/x0.raw", "z0/y0/x1.raw", "volume.raw", "z0/y0/x1.blocks/z0/y0/x0.raw"} {
			got, err := os.ReadFile(filepath.Join(s.dir, name))
			if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EIO) {
				t.Errorf("%s: %d bytes, %v; want ENOENT or EIO", name, len(got), err)
			}
		}
	}
	wantNothing()
	small.write(t, source, 0, 0, 0)
	wantNothing()
	wantSmallCube(t, held)
}

// TestClockSteps gives cubes times far in the future and in the past, in any order. A change is detected by a
// different time, not by a later one.
func TestClockSteps(t *testing.T) {
	source := tempDir(t)
	small.write(t, source, 0, 0, 0)
	dir := mount(t, source)
	older, newer := small, small
	newer.seed = 7
	for i, at := range []time.Time{
		time.Now().Add(24 * time.Hour),
		time.Unix(0, 0),
		time.Date(2400, 1, 1, 0, 0, 0, 1, time.UTC),
		time.Date(1905, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1905, 1, 1, 0, 0, 0, 1, time.UTC),
		time.Now(),
	} {
		held := openDirect(t, filepath.Join(dir, "z0/y0/x0.raw"))
		cube := newer.write(t, source, 0, 0, 0)
		if err := os.Chtimes(cube, at, at); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(cube)
		if err != nil {
			t.Fatal(err)
		}
		want := newer.flat()
		for _, name := range []string{"z0/y0/x0.raw", "volume.raw", "box/0-32_0-32_0-32.raw"} {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("step %d: %s at %v: got %d bytes, want the new ones; error %v", i, name, at, len(got), err)
			}
		}
		p := make([]byte, len(want))
		if n, err := held.ReadAt(p, 0); err == nil && !bytes.Equal(p[:n], older.flat()) ||
			err != nil && !errors.Is(err, unix.EIO) {
			t.Errorf("step %d: the open file: got %d bytes, error %v; want the old bytes or EIO", i, n, err)
		}
		f := open(t, filepath.Join(dir, "z0/y0/x0.raw"))
		if got, err := f.Stat(); err != nil || !got.ModTime().Equal(info.ModTime()) {
			t.Errorf("step %d: the mount shows the time %v, want %v; error %v", i, got.ModTime(), info.ModTime(), err)
		}
		older, newer = newer, older
	}
}

// TestListingIsCurrent adds and removes cubes, and restores the time of the directory each time, as rsync -a
// and tar do. The next listing shows what exists.
func TestListingIsCurrent(t *testing.T) {
	source := tempDir(t)
	cube := filepath.Dir(small.write(t, source, 0, 0, 0))
	at := time.Date(2020, 2, 20, 0, 0, 0, 0, time.UTC)
	restoreTime := func() {
		t.Helper()
		if err := os.Chtimes(cube, at, at); err != nil {
			t.Fatal(err)
		}
	}
	restoreTime()
	dir := filepath.Join(mount(t, source), "z0/y0")
	for range 3 {
		if got := names(t, dir); got != "x0.blocks x0.raw" {
			t.Errorf("with one cube, the listing is %q", got)
		}
		added := small.write(t, source, 1, 0, 0)
		restoreTime()
		if got := names(t, dir); got != "x0.blocks x0.raw x1.blocks x1.raw" {
			t.Errorf("with two cubes, the listing is %q", got)
		}
		if err := os.Remove(added); err != nil {
			t.Fatal(err)
		}
		restoreTime()
	}
}
