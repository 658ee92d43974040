package hdf5

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// small returns the bytes of a file of testdata. testdata/make.py wrote it.
func small(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func openBytes(b []byte) (*File, error) { return Open(bytes.NewReader(b), int64(len(b))) }

func mustOpen(t testing.TB, name string) *File {
	t.Helper()
	f, err := openBytes(small(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestSmallFiles reads all datasets of the files in testdata.
func TestSmallFiles(t *testing.T) {
	var hashes map[string]map[string]string
	if err := json.Unmarshal(small(t, "hashes.json"), &hashes); err != nil {
		t.Fatal(err)
	}
	for name, datasets := range hashes {
		f := mustOpen(t, name)
		for path, want := range datasets {
			o, err := f.Lookup(path)
			if err != nil {
				t.Error(err)
				continue
			}
			d := o.(*Dataset)
			b, err := d.ReadAll(1 << 20)
			if err != nil {
				t.Error(err)
			} else if hashOf(plain(d, b)) != want {
				t.Errorf("%s: %v: other values than expected", name, d)
			}
		}
	}
	if len(hashes) != 3 {
		t.Errorf("%d files", len(hashes))
	}
}

// TestUserBlock reads a file after bytes of an application, and between others.
func TestUserBlock(t *testing.T) {
	b := small(t, "earliest.h5")
	for _, at := range []int{512, 1024, 4096} {
		f, err := openBytes(append(append(make([]byte, at), b...), "the end"...))
		if err != nil {
			t.Fatal(err)
		}
		o, err := f.Lookup("/volumes/raw")
		if err != nil {
			t.Fatal(err)
		}
		got, err := o.(*Dataset).ReadAll(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		o, _ = mustOpen(t, "earliest.h5").Lookup("/volumes/raw")
		if want, _ := o.(*Dataset).ReadAll(1 << 20); !bytes.Equal(got, want) || f.UserBlock() != int64(at) {
			t.Errorf("user block of %d bytes: found %d, or other values", at, f.UserBlock())
		}
	}
	if _, err := openBytes(append(make([]byte, 100), b...)); err == nil {
		t.Error("a superblock at 100 is found")
	}
}

// TestLookup follows links of all kinds.
func TestLookup(t *testing.T) {
	f := mustOpen(t, "earliest.h5")
	for _, c := range []struct{ path, found, err string }{
		{"/", "/", ""},
		{"", "/", ""},
		{"volumes", "/volumes", ""},
		{"/volumes/./raw", "/volumes/raw", ""},
		{"soft", "/volumes/raw", ""},
		{"volumes/up/volumes/up/plain", "/volumes/up/volumes/up/plain", ""},
		{"type", "/type", ""},
		{"loop", "", "a loop"},
		{"outside", "", `an external link to "other.h5:/raw" is not supported`},
		{"none", "", `there is no object "none"`},
		{"plain/below", "", `there is no object "plain/below"`},
		{strings.Repeat("volumes/up/", 600), "", "at most 1000 groups"},
	} {
		o, err := f.Lookup(c.path)
		switch {
		case c.err == "" && err != nil:
			t.Error(err)
		case c.err == "" && o.Path() != c.found:
			t.Errorf("%q is %q, expected %q", c.path, o.Path(), c.found)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: error %v, expected %q", c.path, err, c.err)
		}
		if strings.HasPrefix(c.err, "there is no") && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: error %v is not fs.ErrNotExist", c.path, err)
		}
	}
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	names, err := root.Names()
	if want := []string{"loop", "outside", "plain", "soft", "type", "volumes"}; err != nil ||
		!reflect.DeepEqual(names, want) {
		t.Errorf("names %q, error %v, expected %q", names, err, want)
	}
}

// TestDataset checks what the header of a dataset says.
func TestDataset(t *testing.T) {
	o, err := mustOpen(t, "latest.h5").Lookup("tree")
	if err != nil {
		t.Fatal(err)
	}
	d := o.(*Dataset)
	if got, want := d.MaxShape(), []uint64{Unlimited, Unlimited, 7}; !reflect.DeepEqual(got, want) {
		t.Errorf("maximum %v, expected %v", got, want)
	}
	if got, want := d.ChunkShape(), []uint64{2, 2, 2}; !reflect.DeepEqual(got, want) || d.ChunkBytes() != 16 ||
		d.Layout() != Chunked {
		t.Errorf("%v chunks of %v, %d bytes, expected %v", d.Layout(), got, d.ChunkBytes(), want)
	}
	if got := d.Filters(); len(got) != 1 || got[0].ID != 1 || got[0].Client[0] != 1 {
		t.Errorf("filters %v, expected deflate at level 1", got)
	}
	if got := d.Type(); got.Class != ClassInteger || got.Size != 2 || got.Signed || got.BigEndian ||
		got.Precision != 16 {
		t.Errorf("type %+v, expected uint16", got)
	}
	x, err := d.Chunks()
	if err != nil || x.Len() != 3*3*4 {
		t.Errorf("%d chunks, error %v, expected 36", x.Len(), err)
	}
	for _, at := range [][]uint64{{3, 0, 0}, {0, 3, 0}, {0, 0, 4}, {1 << 63, 0, 0}} {
		if _, ok, err := x.Lookup(at); ok || err != nil {
			t.Errorf("chunk %v outside the dataset: %v, error %v", at, ok, err)
		}
	}
	if _, _, err := x.Lookup([]uint64{0, 0}); err == nil {
		t.Error("a position of two axes is not an error")
	}
}

// TestSparse checks the fill value, and which chunks there are.
func TestSparse(t *testing.T) {
	o, err := mustOpen(t, "latest.h5").Lookup("sparse")
	if err != nil {
		t.Fatal(err)
	}
	d := o.(*Dataset)
	if got := d.FillValue(); !bytes.Equal(got, []byte{0xf9, 0xff}) {
		t.Errorf("fill value % x, expected -7", got)
	}
	x, err := d.Chunks()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := x.Lookup([]uint64{0, 1}); ok || err != nil {
		t.Errorf("a chunk that is not stored: %v, error %v", ok, err)
	}
	n := 0
	err = x.All(func(scaled []uint64, c Chunk) bool {
		n++
		if !reflect.DeepEqual(scaled, []uint64{1, 1}) || c.Size != 8 {
			t.Errorf("chunk %v of %d bytes", scaled, c.Size)
		}
		return true
	})
	if n != 1 || err != nil {
		t.Errorf("%d chunks, error %v, expected 1", n, err)
	}
}

// TestAttributes reads attributes of all types, compact and dense.
func TestAttributes(t *testing.T) {
	for _, c := range []struct{ file, path string }{{"earliest.h5", "volumes/raw"}, {"latest.h5", "fixed"}} {
		o, err := mustOpen(t, c.file).Lookup(c.path)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]any{
			"resolution": []float64{40, 4, 4},
			"offset":     []int64{1, -2, 3},
			"unit":       []string{"nm"},
			"fixed":      []string{"z", "y", "x"},
			"names":      []string{"zeta", "ypsilon", "x"},
			"open":       []int64{1},
			"half":       []float64{-0.25},
			"big":        []float64{math.Ldexp(1, 63)},
		} {
			a, ok, err := o.Attribute(name)
			if !ok || err != nil {
				t.Errorf("%s: attribute %s: %v, error %v", c.file, name, ok, err)
				continue
			}
			var got any
			switch want.(type) {
			case []float64:
				got, err = a.Floats()
			case []int64:
				got, err = a.Ints()
			default:
				got, err = a.Strings()
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: attribute %s is %v, error %v, expected %v", c.file, name, got, err, want)
			}
		}
		all, err := o.Attributes()
		if len(all) != 8 || err != nil {
			t.Errorf("%s: %d attributes, error %v, expected 8", c.file, len(all), err)
		}
		if _, ok, err := o.Attribute("none"); ok || err != nil {
			t.Errorf("%s: an attribute that is not there: %v, error %v", c.file, ok, err)
		}
	}
}

// TestWrongValues asks attributes for values that they do not have.
func TestWrongValues(t *testing.T) {
	o, err := mustOpen(t, "earliest.h5").Lookup("volumes/raw")
	if err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(*Attribute) error{
		"resolution": func(a *Attribute) error { _, err := a.Ints(); return err },
		"unit":       func(a *Attribute) error { _, err := a.Floats(); return err },
		"offset":     func(a *Attribute) error { _, err := a.Strings(); return err },
		"big":        func(a *Attribute) error { _, err := a.Ints(); return err },
		"half":       func(a *Attribute) error { _, err := a.References(); return err },
	} {
		a, _, err := o.Attribute(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := read(a); err == nil || !strings.Contains(err.Error(), "attribute "+name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
