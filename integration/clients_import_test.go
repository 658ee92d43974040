//go:build clients

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// foreignFile is a file that another program wrote, as clients/write.py describes it.
type foreignFile struct {
	Name, Path, Voxels, Dtype string
	Args                      []string    // that the import needs
	Shape                     [3]int      // x, y, z
	Channels                  int         // adjacent in Voxels
	Spacing                   *[3]float64 // nm; nil: not in the file
	At                        *[3]int     // nil: not in the file
}

// TestClientImports imports files that the programs and libraries of users wrote, and compares voxels, type, place and
// voxel size with what these programs were given. All layers are in one dataset, and in one mount.
func TestClientImports(t *testing.T) {
	dir := tempDir(t)
	cmd := exec.Command("/usr/bin/python3", "write.py", dir)
	cmd.Dir = "clients"
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []foreignFile
	if err := json.Unmarshal(out, &files); err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	dataset := filepath.Join(dir, "dataset")
	layer := func(i int) string { return fmt.Sprintf("l%03d", i) }
	for i, f := range files {
		args := slices.Concat([]string{"import", "-q", f.Path, dataset, "--layer", layer(i), "--category", "color",
			"--voxel-size", "8,8,30"}, f.Args)
		if r := wkwfs(t, args...); r.code != 0 {
			t.Errorf("%s: import: %s", f.Name, r.stderr)
		}
		f.checkSpacing(t, filepath.Join(dir, "spacing", layer(i)))
	}
	root := mount(t, dataset)
	for i, f := range files {
		t.Run(f.Name, func(t *testing.T) { f.compare(t, filepath.Join(root, layer(i), "1")) })
	}
}

// checkSpacing imports the file without a voxel size. That fails unless the file has one.
func (f foreignFile) checkSpacing(t *testing.T, dataset string) {
	t.Helper()
	r := wkwfs(t, slices.Concat([]string{"import", "-q", f.Path, dataset, "--layer", "l", "--category", "color"},
		f.Args)...)
	if f.Spacing == nil {
		if r.code == 0 {
			t.Errorf("%s: imported with a voxel size that the file does not have", f.Name)
		}
		return
	}
	if r.code != 0 {
		t.Errorf("%s: import without --voxel-size: %s", f.Name, r.stderr)
		return
	}
	b, err := os.ReadFile(filepath.Join(dataset, "datasource-properties.json"))
	if err != nil {
		t.Fatal(err)
	}
	var properties struct {
		Scale struct {
			Factor [3]float64
			Unit   string
		}
	}
	if err := json.Unmarshal(b, &properties); err != nil {
		t.Fatal(err)
	}
	for axis, got := range properties.Scale.Factor {
		// Some headers have numbers of 32 bits.
		if want := f.Spacing[axis]; got < want*(1-1e-6) || got > want*(1+1e-6) || properties.Scale.Unit != "nanometer" {
			t.Errorf("%s: got a voxel size of %v nm, want %v", f.Name, properties.Scale, *f.Spacing)
			return
		}
	}
}

// compare compares the layer in the directory of a mag with the file.
func (f foreignFile) compare(t *testing.T, mag string) {
	want, err := os.ReadFile(f.Voxels)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(mag, "volume.raw"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the voxels differ: %d bytes, want %d", len(got), len(want))
	}
	b, err := os.ReadFile(filepath.Join(mag, "volume.json"))
	if err != nil {
		t.Fatal(err)
	}
	var about struct {
		Dtype         string
		Channels      int
		Shape, Origin [3]int
	}
	if err := json.Unmarshal(b, &about); err != nil {
		t.Fatal(err)
	}
	var at [3]int
	if f.At != nil {
		at = *f.At
	}
	if about.Dtype != f.Dtype || about.Channels != f.Channels || about.Shape != f.Shape || about.Origin != at {
		t.Errorf("got %+v, want %s, %d channels, %v at %v", about, f.Dtype, f.Channels, f.Shape, at)
	}
}
