//go:build clients

package integration

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientZarr mounts Zarr 2 and N5 arrays that zarr-python writes: all compressors with all types, of both byte
// orders and orders of values. Each has the voxels that were written.
func TestClientZarr(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("/usr/bin/python3", "clients/write_zarr.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("zarr-python: %v\n%s", err, out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	arrays := 0
	for _, e := range entries {
		stem, format, _ := strings.Cut(e.Name(), ".")
		if !e.IsDir() {
			continue
		}
		arrays++
		want, err := os.ReadFile(filepath.Join(dir, stem+".raw"))
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(t.TempDir(), "volume.raw")
		mustRun(t, "cp", "--quiet", filepath.Join(dir, e.Name()), "volume.raw", copied)
		if got, err := os.ReadFile(copied); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s as %s: %d bytes, %v; want %d others", stem, format, len(got), err, len(want))
		}
	}
	if arrays < 100 {
		t.Errorf("%d arrays, want at least 100", arrays)
	}
	mounted := mount(t, filepath.Join(dir, "zlib_le_u8.zarr"))
	got, err := os.ReadFile(filepath.Join(mounted, "volume.raw"))
	want, _ := os.ReadFile(filepath.Join(dir, "zlib_le_u8.raw"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("mounted: %d bytes, %v", len(got), err)
	}
}
