package webknossos

import (
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"
)

// failingFS fails to open and describe one directory.
type failingFS struct {
	fstest.MapFS
	dir string
	err error
}

func (f failingFS) Stat(name string) (fs.FileInfo, error) {
	if name == f.dir {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: f.err}
	}
	return f.MapFS.Stat(name)
}

func (f failingFS) Open(name string) (fs.File, error) {
	if name == f.dir {
		return nil, &fs.PathError{Op: "open", Path: name, Err: f.err}
	}
	return f.MapFS.Open(name)
}

func (f failingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == f.dir {
		return nil, &fs.PathError{Op: "open", Path: name, Err: f.err}
	}
	return f.MapFS.ReadDir(name)
}

// TestLayerErrors shows that a layer whose directory cannot be read is not treated as absent. It is not listed if it
// must not be read. When the error is over, the dataset is what it was.
func TestLayerErrors(t *testing.T) {
	fsys := &failingFS{MapFS: fstest.MapFS{"color/1/header.wkw": {}, "other/1/header.wkw": {}, "notes/text": {}}}
	d := newDataset(fsys, ".", Options{Log: slog.New(slog.DiscardHandler)})
	check := func(what string, want []string, layer string, exists bool, wantErr error) {
		t.Helper()
		if names, err := d.Layers(); err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: got the layers %v, %v, expected %v", what, names, err, want)
		}
		l, err := d.Layer(layer)
		if err == nil {
			_, err = l.Mags()
		}
		if exists != (l != nil) || !errors.Is(err, wantErr) {
			t.Errorf("%s: got layer %v, %v, expected %v", what, l, err, wantErr)
		}
	}
	check("before", []string{"color", "other"}, "notes", false, fs.ErrNotExist)
	for _, number := range []syscall.Errno{syscall.EIO, syscall.ESTALE, syscall.EMFILE} {
		fsys.dir, fsys.err = "color", number
		check(number.Error(), []string{"color", "other"}, "color", true, number)
		fsys.dir = "notes"
		check(number.Error(), []string{"color", "notes", "other"}, "notes", true, number)
	}
	fsys.dir, fsys.err = "color", syscall.EACCES
	check("no permission", []string{"other"}, "color", true, fs.ErrPermission)
	fsys.dir = ""
	check("afterwards", []string{"color", "other"}, "notes", false, fs.ErrNotExist)
	check("afterwards", []string{"color", "other"}, "color", true, nil)
}

// TestMagErrors shows that a mag without a header whose directory cannot be listed is not treated as absent.
func TestMagErrors(t *testing.T) {
	for err, want := range map[error]bool{syscall.EIO: true, syscall.ESTALE: true, syscall.EACCES: true,
		fs.ErrNotExist: false, syscall.ENOTDIR: false} {
		fsys := failingFS{fstest.MapFS{"color/1/z0/y0/x0.wkw": {}}, "color/1", err}
		l := newLayer(fsys, "color", "", nil, Scale{}, Options{})
		if names, listErr := l.Mags(); listErr != nil || len(names) > 0 != want {
			t.Errorf("%v: got the mags %v, %v", err, names, listErr)
		}
		if _, magErr := l.Mag("1"); (magErr == nil) != want {
			t.Errorf("%v: got %v", err, magErr)
		}
	}
}
