package object

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path"
	"strings"
	"testing"
)

// index is a bucket of a web server whose listings leave out names that start with ".".
type index struct{ *memory }

func (i index) URL() string      { return "https://h/data" }
func (i index) Identity() string { return i.URL() }

func (i index) List(ctx context.Context, prefix, after, delimiter string) iter.Seq2[[]Object, error] {
	return func(yield func([]Object, error) bool) {
		for objects, err := range i.memory.List(ctx, prefix, after, delimiter) {
			var shown []Object
			for _, o := range objects {
				if !strings.HasPrefix(path.Base(o.Key), ".") {
					shown = append(shown, o)
				}
			}
			if !yield(shown, err) {
				return
			}
		}
	}
}

// TestHiddenNames: a web server's listing proves no absence of names that start with ".", before and after it was read.
// It does of others, without another request.
func TestHiddenNames(t *testing.T) {
	m := newMemory("color/.zarray", "color/0.0.0")
	f := NewFS(index{m}, Options{})
	for _, first := range []string{"color/.zarray", "color/0.0.0"} {
		for _, name := range []string{first, "color/.zarray", "color/.zattrs", "color/zarr.json"} {
			_, err := f.Stat(name)
			if exists := m.objects[name] != ""; exists != (err == nil) || !exists && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, after %s: got %v", name, first, err)
			}
		}
	}
	if asked := m.asked(); strings.Contains(asked, "zarr.json") || strings.Contains(asked, "list color/.zattrs") {
		t.Errorf("requests: %s", asked)
	}
}

// TestAboveFile: without listings, the names above a file that was found are directories, though they have no metadata.
func TestAboveFile(t *testing.T) {
	m := newMemory("color/1/z0/y0/x0.wkw")
	m.noList = true
	f := NewFS(m, Options{})
	for _, name := range []string{"color", "color/1/z0"} {
		if _, err := f.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s, before the file was found: %v", name, err)
		}
	}
	f = NewFS(m, Options{}) // the other one keeps what it has found
	if _, err := f.Stat("color/1/z0/y0/x0.wkw"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"color", "color/1", "color/1/z0", "color/1/z0/y0"} {
		if info, err := f.Stat(name); err != nil || !info.IsDir() {
			t.Errorf("%s: got %v, %v", name, info, err)
		}
	}
	if _, err := f.Stat("color/2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a name that is not above the file: %v", err)
	}
}
