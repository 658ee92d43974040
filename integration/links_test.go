package integration

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestLinksStayInside checks that links are followed inside of the source and not out of it, and that the rest
// of the dataset still reads.
func TestLinksStayInside(t *testing.T) {
	elsewhere, source := t.TempDir(), t.TempDir()
	outside := small.write(t, filepath.Join(elsewhere, "color/1"), 0, 0, 0)
	small.write(t, filepath.Join(source, "color/1"), 0, 0, 0)
	for link, target := range map[string]string{
		"inside":               "color",
		"secret":               filepath.Join(elsewhere, "color"),
		"dangling":             "nowhere",
		"color/1/z0/y0/x1.wkw": "x0.wkw",
		"color/1/z0/y0/x2.wkw": outside,
		"color/1/z0/y0/x3.wkw": "x4.wkw",
		"color/1/z0/y0/x5.wkw": "x5.wkw",
		"color/1/z1":           filepath.Join(elsewhere, "color/1/z0"),
	} {
		if err := os.Symlink(target, filepath.Join(source, link)); err != nil {
			t.Fatal(err)
		}
	}
	dir := mount(t, source)
	// A cube that cannot be read is listed and fails. It must not look like an absent cube.
	cubes := "x0.blocks x0.raw x1.blocks x1.raw x2.blocks x2.raw x3.blocks x3.raw x5.blocks x5.raw"
	for name, want := range map[string]string{".": "color inside", "color/1/z0/y0": cubes, "inside/1/z0/y0": cubes} {
		entries, err := os.ReadDir(filepath.Join(dir, name))
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%s lists %q, want %q; %v", name, got, want, err)
		}
	}
	for _, name := range []string{"color/1/z0/y0/x0.raw", "color/1/z0/y0/x1.raw", "inside/1/z0/y0/x1.raw"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, small.flat()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "secret")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a layer outside of the source: %v", err)
	}
	for _, name := range []string{"x2", "x3", "x5"} {
		if got, err := os.ReadFile(filepath.Join(dir, "color/1/z0/y0", name+".raw")); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %d bytes, %v; want EIO", name, len(got), err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "color/1/z1/y0/x0.raw")); !errors.Is(err, syscall.EIO) {
		t.Errorf("a directory outside of the source: %d bytes, %v; want EIO", len(got), err)
	}
}
