package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiskCacheIsOpenedWhenNeeded checks that a command makes the directory for a SOURCE with a URL only, and without
// the flag never.
func TestDiskCacheIsOpenedWhenNeeded(t *testing.T) {
	source, dir := writeSmall(t), filepath.Join(t.TempDir(), "cache")
	server := httptest.NewServer(http.FileServer(http.Dir(source)))
	t.Cleanup(server.Close)
	for _, test := range []struct {
		flags  diskCacheFlags
		source string
		want   bool
	}{{diskCacheFlags{}, server.URL, false}, {diskCacheFlags{dir: dir, size: minDiskCacheSize}, source, false},
		{diskCacheFlags{dir: dir, size: minDiskCacheSize}, server.URL, true}} {
		disk, err := test.flags.open(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := disk.open(sourceFlags{}, test.source, nil); err != nil {
			t.Fatal(err)
		}
		disk.close()
		stats, _ := disk.stats()
		if _, err := os.Stat(dir); (err == nil) != test.want || (stats.Dir == dir) != test.want {
			t.Errorf("%+v of %s: %v, %+v", test.flags, test.source, err, stats)
		}
	}
}

// TestDiskCacheErrors checks that a small size and a directory for everybody are errors that name what to change.
func TestDiskCacheErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := (diskCacheFlags{dir: dir, size: 1 << 20}).open(nil); err == nil ||
		!strings.Contains(err.Error(), "--disk-cache-size") {
		t.Errorf("got %v", err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	disk, err := diskCacheFlags{dir: dir, size: minDiskCacheSize}.open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := disk.open(sourceFlags{}, "http://127.0.0.1:9/x", nil); err == nil ||
		!strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
}
