package integration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBoxOutside: a box without a voxel of the layer does not exist, in a mount, for cp and over HTTP. The usual
// mistake is to count from 0 where the layer does not start there. A box that touches the layer is padded with zeros.
func TestBoxOutside(t *testing.T) {
	source := sparse.write(t) // from 5,3,2 to 55,43,72
	dir := mount(t, source)
	web := startWeb(t, nil, source)
	for _, c := range []struct {
		name   string
		exists bool
	}{
		{"0-5_3-43_2-72.raw", false},
		{"5-55_0-3_2-72.npy", false},
		{"5-55_3-43_0-2.nii", false},
		{"55-56_3-43_2-72.tif", false},
		{"5-55_43-44_2-72.raw", false},
		{"5-55_3-43_72-73.nrrd", false},
		{"-9--1_-9--1_-9--1.raw", false},
		{"1000-1001_1000-1001_1000-1001.raw", false},
		{"0-6_0-4_0-3.raw", true},
		{"54-60_42-60_71-80.raw", true},
		{"0-100_0-100_0-100.npy", true},
	} {
		path := "color/1/box/" + c.name
		_, err := os.Stat(filepath.Join(dir, path))
		_, readErr := os.ReadFile(filepath.Join(dir, path))
		if c.exists && errors.Join(err, readErr) != nil || !c.exists && (!errors.Is(err, os.ErrNotExist) ||
			!errors.Is(readErr, os.ErrNotExist)) {
			t.Errorf("%s: stat %v, read %v", c.name, err, readErr)
		}
		r := wkwfs(t, "cp", "--quiet", source, path, filepath.Join(tempDir(t), c.name))
		if (r.code == 0) != c.exists || !c.exists &&
			!strings.Contains(r.stderr, "outside of the layer, 5-55_3-43_2-72") {
			t.Errorf("cp of %s: exit code %d, %s", c.name, r.code, r.stderr)
		}
		status := 200
		if !c.exists {
			status = 404
		}
		if response, _ := web.get(t, path); response.StatusCode != status {
			t.Errorf("GET %s: status %d, expected %d", c.name, response.StatusCode, status)
		}
	}
}

// TestBoxOfLayerThatGrows: without a bounding box in the metadata, a new cube makes a box of it exist at once.
func TestBoxOfLayerThatGrows(t *testing.T) {
	source := tempDir(t)
	mag := filepath.Join(source, "color/1")
	small.write(t, mag, 0, 0, 0)
	dir := mount(t, source)
	name := filepath.Join(dir, "color/1/box/32-64_0-32_0-32.raw")
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("before: %v", err)
	}
	small.write(t, mag, 1, 0, 0)
	eventually(t, "the box exists", func() bool { _, err := os.Stat(name); return err == nil })
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, small.flat()) {
		t.Errorf("after: %d bytes, %v", len(got), err)
	}
}

// TestBoxBetweenCubes: a new cube moves the bounding box of a layer without metadata. A box between the cubes is found
// at once, although it has no voxel of them.
func TestBoxBetweenCubes(t *testing.T) {
	source := tempDir(t)
	mag := filepath.Join(source, "color/1")
	small.write(t, mag, 0, 0, 0)
	dir := mount(t, source)
	if _, err := os.Stat(filepath.Join(dir, "color/1/volume.raw")); err != nil {
		t.Fatal(err)
	}
	small.write(t, mag, 2, 0, 0)
	got, err := os.ReadFile(filepath.Join(dir, "color/1/box/33-63_1-31_0-32.raw"))
	if err != nil || len(got) != 30*30*32 || len(bytes.Trim(got, "\x00")) != 0 {
		t.Errorf("%d bytes, %v, expected zeros", len(got), err)
	}
}

// TestSlicesBelowZero: slices of negative z have names whose bytes sort by z. The names that they once had are found,
// but not listed.
func TestSlicesBelowZero(t *testing.T) {
	l := sparse
	l.min, l.size = [3]int{0, 0, -12}, [3]int{20, 20, 20}
	dir := filepath.Join(mount(t, l.write(t)), "color/1/slices")
	entries, err := os.ReadDir(dir) // sorts by name
	if err != nil || len(entries) != 20 {
		t.Fatalf("%d slices, %v", len(entries), err)
	}
	for i, want := range map[int]string{0: "z-9999988_-12.tif", 10: "z-9999998_-2.tif", 11: "z-9999999_-1.tif",
		12: "z0000000.tif", 19: "z0000007.tif"} {
		if got := entries[i].Name(); got != want {
			t.Errorf("slice %d: got %s, expected %s", i, got, want)
		}
	}
	for i, e := range entries {
		origin := make([]byte, 100)
		n, err := unix.Getxattr(filepath.Join(dir, e.Name()), "user.wkwfs.origin", origin)
		if want := fmt.Sprintf("0,0,%d", i-12); err != nil || string(origin[:n]) != want {
			t.Errorf("%s has the origin %q, %v; expected %s", e.Name(), origin[:n], err, want)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "z-000002.tif"))
	want, err2 := os.ReadFile(filepath.Join(dir, "z-9999998_-2.tif"))
	if err != nil || err2 != nil || !bytes.Equal(got, want) {
		t.Errorf("the old name: %v, %v", err, err2)
	}
	if _, err := os.Stat(filepath.Join(dir, "z-000013.tif")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a plane outside: %v", err)
	}
}
