//go:build clients

package integration

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestClientOMEOverHTTP opens ome.zarr of a server with the libraries that open that of a mount.
func TestClientOMEOverHTTP(t *testing.T) {
	var arrays []array
	for _, kind := range []struct {
		blockLog, voxelType, channels int
		dtype                         string
	}{{2, 1, 1, "uint8"}, {2, 1, 3, "uint8"}, {4, 1, 1, "uint8"}, {4, 3, 1, "uint32"}, {4, 5, 1, "float32"}} {
		l := sparse
		l.blockLog, l.voxelType, l.channels = kind.blockLog, kind.voxelType, kind.channels
		l.cubes = map[[3]int]bool{{0, 0, 0}: true, {0, 0, 1}: true}
		server := startWeb(t, nil, "--listen", "127.0.0.1:0", l.write(t))
		defer server.end(t, syscall.SIGTERM)
		arrays = append(arrays, array{
			name: fmt.Sprintf("%s×%d in blocks of %d", kind.dtype, kind.channels, 1<<kind.blockLog),
			dir:  server.url + "color/1", dtype: kind.dtype, channels: kind.channels,
			min: l.min, size: l.size, nm: []float64{4, 5, 60}, voxels: l.box(l.min, l.max()),
		})
	}
	for _, c := range clients {
		if c.readings[0].suffix != omeImage {
			continue
		}
		var files []expectation
		for _, a := range arrays {
			files = append(files, expectation{a, a.name, a.dir + "/#" + boxName([2][3]int{a.min, a.max()}),
				c.readings[0]})
		}
		for i, got := range c.open(t, files) {
			t.Run(c.name+"/"+files[i].name, func(t *testing.T) { files[i].compare(t, got) })
		}
	}
}

// TestClientOMEForms: c-blosc reads chunks of blocks in all forms. The layer starts and ends inside a chunk, with whole
// blocks outside of it, and one of its cubes is raw.
func TestClientOMEForms(t *testing.T) {
	l := layer{
		// a chunk has the four blocks of a cube on z
		model: model{blockLog: 4, cubeLog: 2, blockType: 2, voxelType: 2, channels: 1},
		min:   [3]int{0, 3, 20},
		size:  [3]int{128, 70, 70},
		cubes: map[[3]int]bool{{0, 0, 0}: true, {1, 0, 0}: true, {0, 1, 1}: true},
	}
	source := l.write(t)
	raw := l.model
	raw.blockType = 1
	raw.write(t, filepath.Join(source, "color/1"), 1, 0, 0)
	a := array{
		name: "color", dir: filepath.Join(mount(t, source), "color/1"), dtype: "uint16", channels: 1,
		min: l.min, size: l.size, nm: []float64{4, 5, 60}, voxels: l.box(l.min, l.max()),
	}
	for _, c := range clients {
		if c.readings[0].suffix != omeImage {
			continue
		}
		files := []expectation{{a, a.name, a.dir + "/#" + boxName([2][3]int{a.min, a.max()}), c.readings[0]}}
		for i, got := range c.open(t, files) {
			t.Run(c.name, func(t *testing.T) { files[i].compare(t, got) })
		}
	}
}

// TestClientNCZarr opens an array of ome.zarr with NCZarr. Debian's NCZarr has no Blosc and cannot parse the metadata
// of any OME-Zarr image. So the array has no compressor, and is in a group without attributes.
func TestClientNCZarr(t *testing.T) {
	mounted := mount(t, sparse.write(t))
	group := t.TempDir()
	writeFile(t, filepath.Join(group, ".zgroup"), []byte(`{"zarr_format": 2}`))
	if err := os.Symlink(filepath.Join(mounted, "color/ome.zarr/1"), filepath.Join(group, "v")); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("ncdump", "-v", "v", "file://"+group+"#mode=zarr,file")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	_, data, found := strings.Cut(string(out), " v =")
	if err != nil || !found {
		t.Fatalf("%v: %s%s", err, out, stderr.String())
	}
	got := strings.FieldsFunc(data, func(r rune) bool { return strings.ContainsRune(" ,;}\n", r) })
	var want []string
	voxels := sparse.box([3]int{}, sparse.max()) // from index 0 on
	for i := 0; i < len(voxels); i += 2 {
		text := "_" // how ncdump prints netCDF's fill value of the type
		if voxel := binary.LittleEndian.Uint16(voxels[i:]); voxel != math.MaxUint16 {
			text = fmt.Sprint(voxel)
		}
		want = append(want, text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d values, expected %d others", len(got), len(want))
	}
}
