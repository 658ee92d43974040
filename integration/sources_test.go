package integration

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/refdata"
)

// shownFilters are the sources that TestFilteredArrays mounts.
var shownFilters = regexp.MustCompile(`^(half_|f2_|f3_|names_)`)

// TestFilteredArrays reads arrays of Zarr with floats of 16 bits, filters and null names of axes, voxel for voxel, through a mount. All of
// them are layers of one dataset. What is refused is named.
func TestFilteredArrays(t *testing.T) {
	root, all := refdata.Sources(t, "zarr")
	var sources []refdata.Source
	var layers []any
	for _, s := range all {
		if !shownFilters.MatchString(s.Name) || s.Name == "f3_transpose_F" {
			continue
		}
		sources = append(sources, s)
		format := "zarr3"
		if _, err := os.Stat(filepath.Join(root, s.Mount, ".zarray")); err == nil {
			format = "zarr"
		}
		layers = append(layers, map[string]any{
			"name": s.Name, "category": "color", "dataFormat": format, "boundingBox": map[string]any{"topLeft": []int{0, 0, 0}, "width": 40, "height": 24, "depth": 12},
			"mags": []any{map[string]any{"mag": []int{1, 1, 1}, "path": filepath.Join(root, s.Mount)}},
		})
	}
	b, err := json.Marshal(map[string]any{"scale": []int{4, 4, 30}, "dataLayers": layers})
	if err != nil {
		t.Fatal(err)
	}
	source := t.TempDir()
	writeFile(t, filepath.Join(source, "datasource-properties.json"), b)
	dir := mount(t, source, "--follow-links")
	info := wkwfs(t, "info", "--follow-links", source)
	read := 0
	for _, s := range sources {
		if s.Expect == "refused" {
			if _, err := os.Stat(filepath.Join(dir, s.Name)); !os.IsNotExist(err) || !strings.Contains(info.stdout, s.Name) {
				t.Errorf("%s: got %v; want no layer, and its name in:\n%s", s.Name, err, info.stdout)
			}
			continue
		}
		voxels, err := os.ReadFile(filepath.Join(dir, s.Name, "1", "volume.raw"))
		if got := hashOf(voxels); err != nil || got != s.Volumes[0].SHA256 {
			t.Errorf("%s: %v, %d bytes with hash %s, want %s", s.Name, err, len(voxels), got, s.Volumes[0].SHA256)
		}
		read++
	}
	if read < 25 {
		t.Errorf("%d arrays, want at least 25", read)
	}
}

// TestCompressedPrecomputed reads a volume of Precomputed whose chunks are files of several compressions through a mount, voxel for voxel.
func TestCompressedPrecomputed(t *testing.T) {
	root, all := refdata.Sources(t, "zarr")
	for _, s := range all {
		if s.Name != "pre_mixed" && s.Name != "pre_br_cut" {
			continue
		}
		source := filepath.Join(root, s.Mount)
		dir := mount(t, source)
		if s.Expect == "error" {
			if _, err := os.ReadFile(filepath.Join(dir, "8_8_40", "volume.raw")); !errors.Is(err, syscall.EIO) {
				t.Errorf("%s: got %v, want EIO", s.Name, err)
			}
			if r := wkwfs(t, "check", source); r.code != 1 || !strings.Contains(r.stdout, ".br: ") {
				t.Errorf("%s: check: exit code %d, %s", s.Name, r.code, r.stdout)
			}
			continue
		}
		voxels, err := os.ReadFile(filepath.Join(dir, "8_8_40", "volume.raw"))
		if got := hashOf(voxels); err != nil || got != s.Volumes[0].SHA256 {
			t.Errorf("%s: %v, %d bytes with hash %s, want %s", s.Name, err, len(voxels), got, s.Volumes[0].SHA256)
		}
		if r := wkwfs(t, "check", source); r.code != 0 {
			t.Errorf("%s: check: exit code %d, %s", s.Name, r.code, r.stdout)
		}
	}
}
