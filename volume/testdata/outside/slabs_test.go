package slabs

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/volume"
)

var size = volume.Vec{30, 20, 4}

// write writes slabs, whose voxels have their coordinates, and returns the voxels of all of them.
func write(t *testing.T, dir string, n int) (all []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "slabs"), []byte("30 20 4"), 0o644); err != nil {
		t.Fatal(err)
	}
	for z := range n {
		slab := make([]byte, size[0]*size[1]*size[2])
		for i := range slab {
			slab[i] = byte(i%30 + i/30%20*7 + (i/600+4*z)*31)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("z%d.slab", z)), slab, 0o644); err != nil {
			t.Fatal(err)
		}
		all = append(all, slab...)
	}
	return all
}

func options() dataset.Options {
	return dataset.Options{Formats: []func(fs.FS, string) (volume.Root, error){Recognise}}
}

// TestOpen: the format is read from a directory and from a web server, with and without a cache.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	want := write(t, dir, 3)
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			files.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json") // an index as that of nginx
		fmt.Fprint(w,
			`[{"name":"slabs","type":"file"},{"name":"z0.slab","type":"file"},{"name":"z1.slab","type":"file"},{"name":"z2.slab","type":"file"}]`)
	}))
	defer server.Close()
	for _, place := range []string{dir, server.URL} {
		d, err := dataset.Open(t.Context(), place, options())
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		m := d.Root.Mag
		bounds, err := m.Bounds()
		if err != nil || bounds.Size() != (volume.Vec{30, 20, 12}) {
			t.Fatal(place, bounds, err)
		}
		if got, err := volume.ReadBox(t.Context(), m, bounds); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: other voxels, %v", place, err)
		}
		c := cache.New(1 << 20)
		defer c.Close()
		for range 2 {
			r, err := dataset.NewReader(m, c)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := r.ReadBox(t.Context(), bounds); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: other voxels through the cache, %v", place, err)
			}
			r.Close()
		}
		if s := c.Stats(); s.Loads != 3 || s.Hits != 3 {
			t.Errorf("%s: %+v: the blocks have no versions", place, s)
		}
	}
}

// TestChanged: an open reader does not show a slab that was replaced.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, 2)
	d, err := dataset.Open(t.Context(), dir, options())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c := cache.New(1 << 20)
	defer c.Close()
	r, err := dataset.NewReader(d.Root.Mag, c)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.Rename(filepath.Join(dir, "z0.slab"), filepath.Join(dir, "z1.slab")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ReadBox(t.Context(), volume.Vec{0, 0, 5}.BoxOfOne()); !errors.Is(err, volume.ErrChanged) {
		t.Errorf("got %v", err)
	}
}

// TestOtherFormats: what the format does not recognise is opened as before, and its own errors count.
func TestOtherFormats(t *testing.T) {
	dir := t.TempDir()
	if _, err := dataset.Open(t.Context(), dir, options()); !errors.Is(err, dataset.ErrNotRecognised) {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "slabs"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Open(t.Context(), dir, options()); err == nil || errors.Is(err, dataset.ErrNotRecognised) {
		t.Errorf("got %v", err)
	}
}

// revision is a description with a version of its own: that of a database, for one.
type revision struct {
	number int
	size   int64
}

func (r revision) Name() string       { return "slab" }
func (r revision) Size() int64        { return r.size }
func (r revision) Mode() fs.FileMode  { return 0o444 }
func (r revision) ModTime() time.Time { return time.Unix(1, 0) }
func (r revision) IsDir() bool        { return false }
func (r revision) Sys() any           { return nil }

func (r revision) Details() volume.Details {
	sum := sha256.Sum256(fmt.Append(nil, r.number))
	return volume.Details{Version: func() volume.Version { return volume.Version(sum[:16]) }}
}

var _ volume.DetailedInfo = revision{}

// TestOwnVersion: a version may be made of anything.
func TestOwnVersion(t *testing.T) {
	var all []volume.Version
	for i := range 3 {
		all = append(all, volume.VersionOf(revision{i, 7}))
	}
	slices.SortFunc(all, func(a, b volume.Version) int { return bytes.Compare(a[:], b[:]) })
	if len(slices.Compact(all)) != 3 || volume.VersionOf(revision{1, 7}) != volume.VersionOf(revision{1, 8}) {
		t.Errorf("got %x", all)
	}
}
