package dataset

import (
	"archive/zip"
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// TestEverythingIsADataset: a layer, a mag, a cube file and an archive are datasets of one layer with the same voxels.
func TestEverythingIsADataset(t *testing.T) {
	dir := t.TempDir()
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(t.TempDir(), "cells.ozx")
	zipDir(t, refdata.Dir(t, "zarr", "ome05_czyx/labels/cells"), "", archive, zip.Store)
	for _, c := range []struct {
		path        string
		layer, mags []string
	}{
		{dir, []string{"color", "segmentation"}, []string{"1"}},
		{filepath.Join(dir, "color"), []string{"color"}, []string{"1"}},
		{filepath.Join(dir, "color/1"), []string{"1"}, []string{"1"}},
		{filepath.Join(dir, "color/1/z0/y0/x1.wkw"), []string{"x1.wkw"}, []string{"1"}},
		{archive, []string{"cells.ozx"}, []string{"s0", "s1", "s2"}},
	} {
		d, err := Open(t.Context(), c.path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		layers, err := d.Layers()
		if err != nil || !slices.Equal(layers, c.layer) {
			t.Errorf("%s: got layers %v, %v", c.path, layers, err)
			continue
		}
		l, err := d.Layer(layers[0])
		if err != nil {
			t.Fatal(err)
		}
		if mags, err := l.Mags(); err != nil || !slices.Equal(mags, c.mags) {
			t.Errorf("%s: got mags %v, %v", c.path, mags, err)
		}
		m, err := l.Mag(c.mags[0])
		if err != nil {
			t.Fatal(err)
		}
		bounds, err := m.Bounds()
		if err != nil {
			t.Fatal(err)
		}
		if voxels, err := volume.ReadBox(t.Context(), m, bounds); err != nil ||
			!slices.ContainsFunc(voxels, func(v byte) bool { return v != 0 }) {
			t.Errorf("%s: %d voxels, %v", c.path, len(voxels), err)
		}
		if _, err := d.Layer("none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v for a layer that does not exist", c.path, err)
		}
		if entries, err := fs.ReadDir(d.Files(), "."); err != nil || (len(entries) > 0) != (c.path == dir) {
			t.Errorf("%s: got metadata files %v, %v", c.path, entries, err)
		}
		if info, err := d.Stat(); err != nil || info == nil {
			t.Errorf("%s: got %v, %v", c.path, info, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLayerOfURL: the layer has the last element of the path as its name, and nothing that is secret.
func TestLayerOfURL(t *testing.T) {
	dir := t.TempDir()
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	d, err := Open(t.Context(), strings.Replace(server.URL, "//", "//user:pw@", 1)+"/color/1/?token=secret", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if layers, err := d.Layers(); err != nil || !slices.Equal(layers, []string{"1"}) {
		t.Errorf("got %q, %v", layers, err)
	}
}

// TestCloseLeavesNothingOpen: Close closes directories and archives, also after an error of Open.
func TestCloseLeavesNothingOpen(t *testing.T) {
	dir := t.TempDir()
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(t.TempDir(), "cells.zip")
	zipDir(t, refdata.Dir(t, "zarr", "ome05_czyx/labels/cells"), "", archive, zip.Store)
	nothing := filepath.Join(t.TempDir(), "chunks.zip")
	zipDir(t, refdata.Dir(t, "zarr", "ome05_czyx/labels/cells/s0/c"), "", nothing, zip.Store)
	opened := func() (files []string) {
		entries, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if to, err := os.Readlink("/dev/fd/" + e.Name()); err == nil &&
				slices.ContainsFunc([]string{dir, archive, nothing},
					func(p string) bool { return strings.HasPrefix(to, filepath.Dir(p)) }) {
				files = append(files, to)
			}
		}
		return files
	}
	for _, path := range []string{dir, archive, nothing} {
		d, err := Open(t.Context(), path, Options{})
		if err == nil {
			if len(opened()) == 0 {
				t.Errorf("%s: nothing is open before Close", path)
			}
			err = d.Close()
		}
		if (err != nil) != (path == nothing) {
			t.Errorf("%s: %v", path, err)
		}
		if files := opened(); len(files) > 0 {
			t.Errorf("%s: %v are open after Close", path, files)
		}
	}
}

// TestCloseOfURL: after Close there is no connection, and a read fails at once.
func TestCloseOfURL(t *testing.T) {
	dir := t.TempDir()
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.FileServer(http.Dir(dir)))
	var connections atomic.Int64
	closed := make(chan struct{}, 100)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			connections.Add(1)
		case http.StateClosed:
			closed <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	d, err := Open(t.Context(), server.URL, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.Layer("color")
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Mag("1")
	if err != nil {
		t.Fatal(err)
	}
	box := volume.Box{Min: volume.Vec{40, 20, 10}, Max: volume.Vec{42, 22, 12}}
	if _, err := volume.ReadBox(t.Context(), m, box); err != nil {
		t.Fatal(err)
	}
	if s := d.Stats(); s.Requests == 0 || s.Bytes == 0 {
		t.Errorf("got %+v", s)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for range connections.Load() {
		select {
		case <-closed:
		case <-time.After(time.Minute):
			t.Fatal("a connection is open after Close")
		}
	}
	if _, err := volume.ReadBox(t.Context(), m, box); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got %v, expected %v", err, fs.ErrClosed)
	}
}

// TestOpenEndsWithItsContext: a server that does not answer does not keep Open from returning, even if what ends it
// panics.
func TestOpenEndsWithItsContext(t *testing.T) {
	var panics atomic.Int32
	for range 2 {
		openEndsWithItsContext(t)
		defer guard.Inject(func(place string) {
			if place == "dataset.opening" {
				panics.Add(1)
				panic("injected")
			}
		})()
	}
	if panics.Load() != 1 {
		t.Errorf("%d panics, expected 1", panics.Load())
	}
}

func openEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel(errTooLong)
		select { // a client that goes on is seen, because it waits
		case <-r.Context().Done():
		case <-over:
		}
	}))
	defer server.Close()
	defer close(over)
	start := time.Now()
	if d, err := Open(ctx, server.URL+"/cortex", Options{Timeout: time.Hour}); !errors.Is(err, errTooLong) ||
		d != nil {
		t.Errorf("got %v, %v", d, err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

var errTooLong = errors.New("too long")

// TestAllow: no request is sent to a URL that is refused, whether it is opened or metadata lead to it.
func TestAllow(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		http.NotFound(w, r)
	}))
	defer server.Close()
	refused := errors.New("not this one")
	var asked []string
	o := Options{FollowLinks: true, Allow: func(url string) error {
		asked = append(asked, url)
		return refused
	}}
	if _, err := Open(t.Context(), strings.Replace(server.URL, "//", "//user:secret@", 1)+"/a", o); !errors.Is(err,
		refused) {
		t.Errorf("got %v", err)
	}
	d := &directories{}
	d.init(o)
	if _, err := d.outside("/data/cortex")(server.URL + "/b"); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	if want := []string{server.URL + "/a", server.URL + "/b"}; !slices.Equal(asked, want) || requests.Load() > 0 {
		t.Errorf("asked for %q, expected %q; %d requests", asked, want, requests.Load())
	}
}

// TestDiskCacheTTL: with a disk cache, answers about objects are valid for a minute.
func TestDiskCacheTTL(t *testing.T) {
	if with, without := (Options{DiskCache: &DiskCache{}}).objects().TTL,
		(Options{}).objects().TTL; with != time.Minute || without != 0 {
		t.Errorf("got %v, and %v without", with, without)
	}
}

// TestDiskCache: a second dataset needs no request for what the first has read, also after the disk cache is closed.
func TestDiskCache(t *testing.T) {
	dir := t.TempDir()
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	var ranges atomic.Int64
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.Header.Get("Range") // one byte is asked for the version
		if asked != "" && asked != "bytes=0-0" && strings.HasSuffix(r.URL.Path, ".wkw") {
			ranges.Add(1)
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	disk := NewDiskCache(DiskCacheOptions{Dir: filepath.Join(t.TempDir(), "cache")})
	if _, ok := disk.Stats(); ok {
		t.Error("it is open before it is needed")
	}
	var want []byte
	for i := range 3 {
		before := ranges.Load()
		d, err := Open(t.Context(), server.URL+"/color/1", Options{DiskCache: disk})
		if err != nil {
			t.Fatal(err)
		}
		voxels, err := volume.ReadBox(t.Context(), d.Root.Mag,
			volume.Box{Min: volume.Vec{40, 20, 10}, Max: volume.Vec{60, 40, 20}})
		if err != nil || want != nil && !slices.Equal(voxels, want) {
			t.Errorf("%d: other voxels, %v", i, err)
		}
		want = voxels
		if sent := ranges.Load() - before; (sent > 0) != (i == 0) {
			t.Errorf("dataset %d sent %d requests for voxels", i, sent)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if i == 1 {
			if s, ok := disk.Stats(); !ok || s.Hits == 0 || s.Misses == 0 {
				t.Errorf("got %+v, %v", s, ok)
			}
			disk.Close()
		}
	}
}
