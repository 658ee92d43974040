package tree_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/volume"
)

func TestLevelName(t *testing.T) {
	for _, c := range []struct {
		level, n int
		name     string
	}{{0, 0, "z0"}, {1, 12, "y12"}, {2, 1 << 40, "x1099511627776"}} {
		if got := tree.LevelName(c.level, c.n); got != c.name {
			t.Errorf("level %d, entry %d: got %q, expected %q", c.level, c.n, got, c.name)
		}
		if n, ok := tree.ParseLevel(c.level, c.name); !ok || n != c.n {
			t.Errorf("%q: got %d, %t", c.name, n, ok)
		}
	}
	for _, name := range []string{"", "z", "y0", "z-1", "z00", "z01", "z+1", "z0 ", "Z0", "z1099511627777"} {
		if n, ok := tree.ParseLevel(0, name); ok {
			t.Errorf("%q is %d, expected no name of level 0", name, n)
		}
	}
}

func TestCubePath(t *testing.T) {
	name := tree.CubePath(volume.Vec{1, 20, 300})
	if name != "z300/y20/x1.raw" {
		t.Errorf("got %q", name)
	}
	if ok, err := path.Match(tree.CubePattern, name); !ok || err != nil {
		t.Errorf("%q does not match %q: %v", name, tree.CubePattern, err)
	}
}

func TestSliceName(t *testing.T) {
	for _, c := range []struct {
		z    int
		name string
	}{
		{0, "z0000000.tif"}, {42, "z0000042.tif"}, {12345678, "z12345678.tif"}, {-1, "z-9999999_-1.tif"},
		{-5, "z-9999995_-5.tif"},
		{-1234567, "z-8765433_-1234567.tif"}, {-1e7, "z-0000000_-10000000.tif"},
		{-1e7 - 1, "z--9999989999999_-10000001.tif"}, {-1 << 40, "z--8900488372224_-1099511627776.tif"},
	} {
		if got := tree.SliceName(c.z); got != c.name {
			t.Errorf("%d: got %q, expected %q", c.z, got, c.name)
		}
		if z, ok := tree.ParseSlice(c.name); !ok || z != c.z {
			t.Errorf("%q: got %d, %t", c.name, z, ok)
		}
	}
	for _, name := range []string{"", "z.tif", "z0.tif", "z000000.tif", "z00000000.tif", "z0000000.tiff", "z0000000",
		"z+000001.tif", "y0000000.tif", "z99999999999999999999.tif",
		"z-9999999_-2.tif", "z-9999999_-01.tif", "z-9999999_1.tif", "z-9999999_.tif", "z0000001_1.tif", "z-00001.tif",
		"z_-1.tif", "z-9999999_-1.tif.tif",
	} {
		if z, ok := tree.ParseSlice(name); ok {
			t.Errorf("%q is %d, expected no name of a slice", name, z)
		}
	}
}

// TestSlicesSort: names in the order of their bytes are planes in the order of z.
func TestSlicesSort(t *testing.T) {
	zs := []int{-1 << 40, -1e7 - 2, -1e7 - 1, -1e7, -1e7 + 1, -1234567, -1e6, -99, -11, -10, -9, -2, -1, 0, 1, 9, 10,
		11, 99, 1e6, 1e7 - 1}
	for i, z := range zs[1:] {
		if before, name := tree.SliceName(zs[i]), tree.SliceName(z); before >= name {
			t.Errorf("%d and %d: %s does not sort before %s", zs[i], z, before, name)
		}
	}
}

// TestOldSliceNames: the names that planes of negative z once had are still found.
func TestOldSliceNames(t *testing.T) {
	for name, want := range map[string]int{"z-000001.tif": -1, "z-000005.tif": -5, "z-999999.tif": -999999,
		"z-1234567.tif": -1234567} {
		if z, ok := tree.ParseSlice(name); !ok || z != want {
			t.Errorf("%s: got %d, %t, expected %d", name, z, ok, want)
		}
	}
}

func TestBoxName(t *testing.T) {
	const limit = 1 << 40
	for _, c := range []struct {
		min, max volume.Vec
		name     string
	}{
		{volume.Vec{0, 128, 0}, volume.Vec{64, 192, 32}, "0-64_128-192_0-32"},
		{volume.Vec{-3, -2, -1}, volume.Vec{-1, -1, 0}, "-3--1_-2--1_-1-0"},
		{volume.Cube(-limit), volume.Cube(limit), strings.TrimSuffix(strings.Repeat("-1099511627776-1099511627776_", 3),
			"_")},
	} {
		box := volume.Box{Min: c.min, Max: c.max}
		if got := tree.BoxName(box); got != c.name {
			t.Errorf("%v to %v: got %q, expected %q", c.min, c.max, got, c.name)
		}
		if got, ok := tree.ParseBox(c.name); !ok || got != box {
			t.Errorf("%q: got %v, %t", c.name, got, ok)
		}
	}
	for _, name := range []string{
		"", "0-1", "0-1_0-1_0-1.raw", "0-1_0-1_0-1 ", "00-1_0-1_0-1", "+0-1_0-1_0-1", "0-1-0-1-0-1",
		"0-0_0-1_0-1", "1-0_0-1_0-1", "0-1099511627777_0-1_0-1", "-1099511627777-0_0-1_0-1",
		"0-99999999999999999999_0-1_0-1",
	} {
		if box, ok := tree.ParseBox(name); ok {
			t.Errorf("%q is %v, expected no name of a box", name, box)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		name            string
		volume, derived bool
	}{
		{"volume.json", true, false},
		{"volume.raw", true, true},
		{"volume.nii", true, true},
		{"volume", false, false},
		{"volumes.raw", false, false},
		{"slices", false, true},
		{"box", false, true},
		{"chunks", false, false},
		{"z0", false, false},
		{"datasource-properties.json", false, false},
	} {
		if got := tree.IsVolume(c.name); got != c.volume {
			t.Errorf("IsVolume(%q) is %t", c.name, got)
		}
		if got := tree.IsDerived(c.name); got != c.derived {
			t.Errorf("IsDerived(%q) is %t", c.name, got)
		}
	}
}

func TestMagOf(t *testing.T) {
	for _, c := range []struct {
		name, mag string
		ok        bool
	}{
		{"color/1/volume.raw", "color/1", true},
		{"color/1/volume.json", "color/1", true},
		{"1/volume.raw", "1", true},
		{"volume.raw", ".", true},
		{"color/1/slices/z0000000.tif", "color/1", true},
		{"slices/z0000000.tif", ".", true},
		{"color/2-2-1/box/0-1_0-1_0-1.raw", "color/2-2-1", true},
		{"color/precomputed/1/0-64_0-64_0-64", "color/1", true},
		{"precomputed/1/0-64_0-64_0-64", "1", true},
		{"color/precomputed/info", "", false},
		{"color/ome.zarr/1/0/12/3", "color/1", true},
		{"ome.zarr/2-2-1/0/0/0/3", "2-2-1", true},
		{"color/ome-v3.zarr/1/c/0/12/3", "color/1", true},
		{"movie/ome.zarr/1/12/0/0/0/3", "movie/t0012/1", true},
		{"ome-v3.zarr/1/c/2/0/0/0/3", "t0002/1", true},
		{"color/ome.zarr/.zmetadata", "", false},
		{"color/ome.zarr/1/.zarray", "", false},
		{"color/ome-v3.zarr/1/zarr.json", "", false},
		{"color/ome.zarr/1", "", false},
		{"color/other.zarr/1/0/0/0", "", false},
		{"precomputed/info", "", false},
		{"color/1/z0/y0/x0.raw", "", false},
		{"color/1/z0/y0/x0.blocks/z0/y0/x0.raw", "", false},
		{"color/1/chunks/0-64_0-64_0-64.raw", "", false},
		{"datasource-properties.json", "", false},
		{"precomputed/1/volume.raw", "precomputed/1", true},
		{"precomputed/precomputed/info", "", false},
		{"precomputed/precomputed/1/0-64_0-64_0-64", "precomputed/1", true},
		{"precomputed/ome.zarr/.zattrs", "", false},
		{"precomputed/ome-v3.zarr/zarr.json", "", false},
		{"ome.zarr/ome.zarr/1/0/12/3", "ome.zarr/1", true},
		{"ome.zarr/ome-v3.zarr/1/c/0/12/3", "ome.zarr/1", true},
		{"box/1/slices/z0000000.tif", "box/1", true},
	} {
		if mag, ok := tree.MagOf(c.name); mag != c.mag || ok != c.ok {
			t.Errorf("%q: got %q, %t, expected %q, %t", c.name, mag, ok, c.mag, c.ok)
		}
	}
}

func TestListings(t *testing.T) {
	for _, c := range []struct {
		names []string // of directories with a slash at the end
		mag   bool
	}{
		{[]string{"volume.json", "volume.raw", "slices/", "box/", "z0/"}, true},
		{[]string{"volume.json", "slices/", "chunks/"}, true},
		{[]string{"volume.json", "z0/"}, false},
		{[]string{"volume.json/", "slices/"}, false},
		{[]string{"volume.json", "slices"}, false},
		{[]string{"color/", "segmentation/"}, false},
	} {
		fsys := fstest.MapFS{}
		for _, name := range c.names {
			if dir, ok := strings.CutSuffix(name, "/"); ok {
				fsys[dir] = &fstest.MapFile{Mode: fs.ModeDir}
			} else {
				fsys[name] = &fstest.MapFile{}
			}
		}
		entries, err := fsys.ReadDir(".")
		if err != nil {
			t.Fatal(err)
		}
		if got := tree.IsMag(entries); got != c.mag {
			t.Errorf("%q: IsMag is %t", c.names, got)
		}
	}
}

// TestWhyHidden: names that cannot be those of directories, or that a mount needs for something else, have a reason.
func TestWhyHidden(t *testing.T) {
	for name, want := range map[string]string{
		"color": "", "1": "", "a b": "", "new\nline": "", "\u202e": "", "é": "", "-": "", "..a": "",
		strings.Repeat("n", 255): "",
		"Precomputed":            "", "box": "", "info": "", "slices": "",
		"": "cannot be", ".": "cannot be", "..": "cannot be", "/": "cannot be", "a/b": "cannot be", "a/": "cannot be",
		"a\x00": "cannot be", "\xff": "cannot be",
		strings.Repeat("n", 256): "256 bytes, expected at most 255", tree.Precomputed: "something else",
		tree.OMEZarr: "something else", tree.OMEZarr3: "something else",
		tree.Server: "something else",
	} {
		if got := tree.WhyHidden(name, tree.ForRoot); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, expected %q", name, got, want)
		}
	}
	if got := tree.WhyHidden(tree.Precomputed, tree.ForDataset); got != "" {
		t.Errorf("a layer: got %q", got)
	}
}

func TestIsBlocks(t *testing.T) {
	beside, err := fstest.MapFS{"cube.raw": {}, "dir.raw/a": {}}.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"z0/y0/x0.blocks": true, "1/z0/y0/x0.blocks": true, "color/1/z0/y12/x345.blocks": true, "cube.blocks": true,
		"color/1/z0/cube.blocks": true,
		"cube.raw":               false, "dir.blocks": false, "x0.blocks": false, "y0/x0.blocks": false,
		"color/x0.blocks":      false,
		"color/1/z0/y0.blocks": false, "z0/y0/x0": false,
	} {
		if got := tree.IsBlocks(name, beside); got != want {
			t.Errorf("%q: got %t", name, got)
		}
	}
}
