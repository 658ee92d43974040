//go:build clients

package integration

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// secondFile is a file that a library wrote, and what it reads of it, as clients/write_second.py describes it.
type secondFile struct {
	Name, Path, Dtype, SHA256 string
	Shape                     [3]int // x, y, z
	Channels                  int
}

// array returns a file as a client has to find it.
func (f secondFile) array() array {
	return array{name: f.Name, dtype: f.Dtype, channels: f.Channels, size: f.Shape}
}

// secondFiles has libraries write files into a directory.
func secondFiles(t *testing.T, dir string) (all []secondFile) {
	t.Helper()
	cmd := exec.Command("/usr/bin/python3", "write_second.py", dir)
	cmd.Dir = "clients"
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	r := runCommand(t, cmd)
	if err := json.Unmarshal([]byte(r.stdout), &all); err != nil || len(all) < 15 {
		t.Fatalf("%d files, %v: exit code %d, %s", len(all), err, r.code, r.stderr)
	}
	return all
}

// TestClientSecondReaders mounts files of tifffile, nibabel, mrcfile and numpy. In each other format of the mount, the
// libraries read what the one that wrote the file reads.
func TestClientSecondReaders(t *testing.T) {
	source := filepath.Join(tempDir(t), "files")
	if err := os.Mkdir(source, 0o777); err != nil {
		t.Fatal(err)
	}
	files := secondFiles(t, source)
	dir := mount(t, source)
	compared := 0
	for _, c := range clients {
		if !slices.Contains([]string{"numpy.load", "nibabel", "tifffile", "zarr and dask"}, c.name) {
			continue
		}
		var paths []expectation
		var wants []secondFile
		for _, f := range files {
			r := c.readings[0]
			if !r.can(f.array()) {
				continue
			}
			name := "volume" + r.suffix
			if r.suffix == omeImage {
				name = "#" + boxName([2][3]int{{}, f.Shape})
			}
			paths = append(paths, expectation{path: filepath.Join(dir, f.Name, "1", name)})
			wants = append(wants, f)
		}
		for i, got := range c.open(t, paths) {
			want := wants[i]
			if got.Error != "" || got.Shape != want.Shape || got.Channels != want.Channels || got.Dtype != want.Dtype ||
				got.SHA256 != want.SHA256 {
				t.Errorf("%s reads of %s: %+v, want %+v", c.name, paths[i].path, got, want)
			}
			compared++
		}
	}
	if compared < 50 {
		t.Errorf("%d files were compared, want at least 50", compared)
	}
}

// TestClientSecondImageJ: ImageJ reads in the TIFF files of a mount what it reads in the files that ImageJ and tifffile
// wrote: voxels, and their size.
func TestClientSecondImageJ(t *testing.T) {
	source := filepath.Join(tempDir(t), "files")
	if err := os.Mkdir(source, 0o777); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range secondFiles(t, source) {
		// ImageJ does not read BigTIFF
		if strings.HasPrefix(f.Name, "tif_") && f.Name != "tif_tiles" && toImageJ(f.array()) {
			names = append(names, f.Name)
		}
	}
	writeFile(t, filepath.Join(source, "ij.raw"), slices.Repeat([]byte{1, 2, 3, 4, 5}, 2*19*13*7/5+1)[:2*19*13*7])
	script, err := filepath.Abs("clients/WriteImageJ.java")
	if err != nil {
		t.Fatal(err)
	}
	r := runCommand(t, exec.Command("java", "-Djava.awt.headless=true", "-cp", "/usr/share/java/ij.jar", script, source,
		"19", "13", "7", "8", "8", "30", "0", "0", "0"))
	if r.code != 0 {
		t.Fatalf("ImageJ: exit code %d, %s", r.code, r.stderr)
	}
	if err := errors.Join(os.Remove(filepath.Join(source, "ij.raw")),
		os.RemoveAll(filepath.Join(source, "imagej"))); err != nil {
		t.Fatal(err)
	}
	dir := mount(t, source)
	c := clients[slices.IndexFunc(clients, func(c client) bool { return c.name == "ImageJ" })]
	var paths []expectation
	for _, name := range append(names, "imagej") {
		paths = append(paths, expectation{path: filepath.Join(source, name+".tif")},
			expectation{path: filepath.Join(dir, name, "1", "volume.tif")})
	}
	answers := c.open(t, paths)
	for i := 0; i < len(answers); i += 2 {
		want, got := answers[i], answers[i+1]
		if want.Error != "" || got.Error != "" || got.Shape != want.Shape || got.Channels != want.Channels ||
			got.Dtype != want.Dtype || got.SHA256 != want.SHA256 {
			t.Errorf("%s: ImageJ reads %+v, and of the mount %+v", paths[i].path, want, got)
		}
		if want.Spacing != nil && !slices.EqualFunc(got.Spacing, want.Spacing, near) {
			t.Errorf("%s: voxels of %v nm, and of the mount %v", paths[i].path, want.Spacing, got.Spacing)
		}
	}
	if len(answers) < 2*4 {
		t.Errorf("%d answers", len(answers))
	}
}
