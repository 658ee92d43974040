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

// TestSourceRenamed renames the source below its mount. The mount stays with the
// directory, wherever that goes; one that follows links stays with the path.
func TestSourceRenamed(t *testing.T) {
	for _, test := range []struct {
		name    string
		args    []string
		follows bool // the directory
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
			wantFlat(t, held)
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
				wantFlat(t, openDirect(t, filepath.Join(dir, name)))
			}
		})
	}
}

// wantFlat reads a file of the small cube's voxels.
func wantFlat(t *testing.T, f *os.File) {
	t.Helper()
	p := make([]byte, len(small.flat()))
	if n, err := f.ReadAt(p, 0); err != nil || !bytes.Equal(p[:n], small.flat()) {
		t.Errorf("%s: %d bytes, %v; want the model's", f.Name(), n, err)
	}
}

// TestSourceRemoved removes the source below its mount. Cube files that are open read
// on, nothing can be opened any more, and a source that is made anew at the same
// path is another one.
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
	wantFlat(t, held)
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
	wantFlat(t, held)
}

// TestClockSteps gives cubes times far in the future and the past, in any order: what
// counts is that they differ, not what time it is.
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
				t.Errorf("%d: %s at %v: %d bytes, not the new ones; %v", i, name, at, len(got), err)
			}
		}
		p := make([]byte, len(want))
		if n, err := held.ReadAt(p, 0); err == nil && !bytes.Equal(p[:n], older.flat()) || err != nil && !errors.Is(err, unix.EIO) {
			t.Errorf("%d: the file that was open: %d bytes, neither the old ones nor EIO: %v", i, n, err)
		}
		f := open(t, filepath.Join(dir, "z0/y0/x0.raw"))
		if shown, err := f.Stat(); err != nil || !shown.ModTime().Equal(info.ModTime()) {
			t.Errorf("%d: shown with the time %v, want %v; %v", i, shown.ModTime(), info.ModTime(), err)
		}
		older, newer = newer, older
	}
}

// TestListingIsCurrent adds and removes cubes and gives the directory its old time
// back, as rsync -a and tar do: the next listing shows what there is.
func TestListingIsCurrent(t *testing.T) {
	source := tempDir(t)
	cube := filepath.Dir(small.write(t, source, 0, 0, 0))
	at := time.Date(2020, 2, 20, 0, 0, 0, 0, time.UTC)
	touch := func() {
		t.Helper()
		if err := os.Chtimes(cube, at, at); err != nil {
			t.Fatal(err)
		}
	}
	touch()
	dir := filepath.Join(mount(t, source), "z0/y0")
	for range 3 {
		if got := names(t, dir); got != "x0.blocks x0.raw" {
			t.Errorf("one cube: %s", got)
		}
		added := small.write(t, source, 1, 0, 0)
		touch()
		if got := names(t, dir); got != "x0.blocks x0.raw x1.blocks x1.raw" {
			t.Errorf("two cubes: %s", got)
		}
		if err := os.Remove(added); err != nil {
			t.Fatal(err)
		}
		touch()
	}
}
