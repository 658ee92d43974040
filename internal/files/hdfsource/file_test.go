package hdfsource

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// countingFS counts open files.
type countingFS struct {
	fstest.MapFS
	open *int
}

func (f countingFS) Open(name string) (fs.File, error) {
	file, err := f.MapFS.Open(name)
	if err == nil {
		*f.open++
		return countedFile{file.(readerAt), f.open}, nil
	}
	return nil, err
}

type readerAt interface {
	fs.File
	ReadAt(p []byte, off int64) (int, error)
}

type countedFile struct {
	readerAt
	open *int
}

func (f countedFile) Close() error {
	*f.open--
	return f.readerAt.Close()
}

// TestReplacedFileIsClosed: an old version of a file is open while a cube of it is, and no longer. Its datasets are not
// kept either.
func TestReplacedFileIsClosed(t *testing.T) {
	b, err := os.ReadFile(refdata.Outside(t, "hdf5", "cremi.hdf"))
	if err != nil {
		t.Fatal(err)
	}
	open := 0
	files := countingFS{fstest.MapFS{}, &open}
	replace := func(n int) {
		files.MapFS["a.hdf"] = &fstest.MapFile{Data: b, ModTime: time.Unix(int64(n), 0), Mode: 0o644}
	}
	replace(0)
	root, closeRoot, err := Recognise(files, "a.hdf", Options{})
	if err != nil {
		t.Fatal(err)
	}
	names, err := root.Dataset.Layers()
	if err != nil {
		t.Fatal(err)
	}
	l, err := root.Dataset.Layer(names[0])
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Mag("1")
	if err != nil {
		t.Fatal(err)
	}
	keptBefore := kept.datasets.Len()
	cube := func() volume.CubeFile {
		t.Helper()
		c, err := m.OpenCube(volume.Vec{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	want := func(n int) {
		t.Helper()
		if open != n {
			t.Errorf("%d files are open, want %d", open, n)
		}
	}
	var old []volume.CubeFile
	for n := range 5 {
		replace(n)
		old = append(old, cube(), cube())
		want(n + 1)
	}
	for n, c := range old {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		want(5 - min((n+1)/2, 4)) // the newest one stays open
	}
	for n := range 5 {
		replace(10 + n)
		c := cube()
		if _, err := volume.ReadBlock(t.Context(), c, volume.Vec{}); err != nil {
			t.Error(err)
		}
		c.Close()
		want(1)
	}
	if more := kept.datasets.Len() - keptBefore; more > 1 {
		t.Errorf("%d more datasets are kept, want one", more)
	}
	if err := closeRoot(); err != nil {
		t.Error(err)
	}
	want(0)
}
