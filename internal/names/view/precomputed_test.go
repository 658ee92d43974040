package view_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestPrecomputed reads all chunks of the Precomputed view of several layers, and compares them with the model.
func TestPrecomputed(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	for _, c := range []struct {
		block, channels int
		value           volume.Type
		category        string
		wantType        string
		wantChunk       int
	}{
		{16, 1, volume.Uint8, "color", "image", 16},
		{16, 1, volume.Uint32, "segmentation", "segmentation", 16},
		{4, 3, volume.Uint8, "color", "image", 32},
		{32, 2, volume.Float32, "color", "image", 32},
	} {
		t.Run(fmt.Sprintf("%v³ of %d × %v", c.block, c.channels, c.value), func(t *testing.T) {
			src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(64), volume.Cube(c.block), c.value, c.channels)}
			dir := writeLayer(t, src, c.category, []string{"z0/y0/x0.wkw", "z1/y0/x1.wkw"})
			tree := open(t, dir, ".")
			b, err := fs.ReadFile(tree, "color/precomputed/info")
			if err != nil {
				t.Fatal(err)
			}
			var info struct {
				AtType   string `json:"@type"`
				Type     string
				DataType string `json:"data_type"`
				Channels int    `json:"num_channels"`
				Scales   []struct {
					Key        string
					Size       volume.Vec
					Offset     volume.Vec   `json:"voxel_offset"`
					Chunks     []volume.Vec `json:"chunk_sizes"`
					Resolution [3]float64
					Encoding   string
				}
			}
			if err := json.Unmarshal(b, &info); err != nil || len(info.Scales) != 1 {
				t.Fatalf("info: %v\n%s", err, b)
			}
			s := info.Scales[0]
			if info.AtType != "neuroglancer_multiscale_volume" || info.Type != c.wantType ||
				info.DataType != c.value.String() || info.Channels != c.channels ||
				s.Key != "1" || s.Encoding != "raw" || s.Resolution != [3]float64{4, 4, 40} ||
				s.Chunks[0] != volume.Cube(c.wantChunk) {
				t.Errorf("info: %s", b)
			}
			if start := (volume.Vec{5, 20,
				33}).Div(volume.Cube(c.block)).Mul(volume.Cube(c.block)); s.Offset != start ||
				s.Offset.Add(s.Size) != (volume.Vec{105, 60, 110}) {
				t.Errorf("extent: got offset %v, size %v", s.Offset, s.Size)
			}
			compareChunks(t, tree, src, volume.Box{Min: s.Offset, Max: s.Offset.Add(s.Size)}, s.Chunks[0])
		})
	}
}

// writeLayer writes a dataset with a layer color in the box 5-105_20-60_33-110.
func writeLayer(t *testing.T, src voxeltest.Source, category string, cubes []string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range cubes {
		path := filepath.Join(dir, "color/1", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := wkw.WriteCube(context.Background(), path, wkw.LZ4, src); err != nil {
			t.Fatal(err)
		}
	}
	properties := fmt.Appendf(nil,
		`{"scale":[4,4,40],"dataLayers":[{"name":"color","category":%q,"boundingBox":{"topLeft":[5,20,33],"width":100,"height":40,"depth":77}}]}`, category)
	if err := os.WriteFile(filepath.Join(dir, webknossos.PropertiesFile), properties, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func compareChunks(t *testing.T, tree fs.FS, src voxeltest.Source, extent volume.Box, chunk volume.Vec) {
	t.Helper()
	bounds := volume.Box{Min: volume.Vec{5, 20, 33}, Max: volume.Vec{105, 60, 110}}
	size := src.Shape.Type.Size()
	for c := range (volume.Box{Max: extent.Size().CeilDiv(chunk)}).All() {
		lo := extent.Min.Add(c.Mul(chunk))
		box := volume.Box{Min: lo, Max: lo.Add(chunk)}.Intersect(extent)
		var want []byte
		for channel := range src.Shape.Channels { // the slowest axis
			for at := range box.All() {
				for i := range size {
					v := byte(0)
					cube := at.Div(volume.Cube(64))
					present := cube == volume.Vec{} || cube == volume.Vec{1, 0, 1}
					if present && at.In(bounds.Max) && bounds.Contains(at) {
						v = voxeltest.ByteAt(at.Sub(cube.Mul(volume.Cube(64))), channel*size+i)
					}
					want = append(want, v)
				}
			}
		}
		got, err := fs.ReadFile(tree, "color/precomputed/1/"+box.String())
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("chunk %v: got %d bytes, expected %d or other bytes: %v", box, len(got), len(want), err)
		}
	}
	for _, name := range []string{"0-1_0-1_0-1", extent.String(), "x", "0-16_16-32_32-48.raw"} {
		if _, err := fs.Stat(tree, "color/precomputed/1/"+name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPrecomputedOfManyChunks lists a scale of 2^36 chunks. None is listed, it takes no memory to find that out, and
// each has a name.
func TestPrecomputedOfManyChunks(t *testing.T) {
	dir := t.TempDir()
	header := []byte{'W', 'K', 'W', 1, 12<<4 | 4, 1, 1, 1, 16, 0, 0, 0, 0, 0, 0, 0} // 2^12 blocks of 2^4 voxels a side
	for _, name := range []string{"header.wkw", "z0/y0/x0.wkw"} {
		path := filepath.Join(dir, "color/1", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, header, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	tree := open(t, dir, ".")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	entries, err := fs.ReadDir(tree, "color/precomputed/1")
	runtime.ReadMemStats(&after)
	if err != nil || len(entries) > 0 {
		t.Errorf("got %d chunks, %v; expected none", len(entries), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("listing took %d MiB of memory", used>>20)
	}
	if _, err := fs.Stat(tree, "color/precomputed/1/0-16_16-32_32-48"); err != nil {
		t.Error(err)
	}
}

func TestPrecomputedNotOffered(t *testing.T) {
	src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(64), volume.Cube(16), volume.Int64, 1)}
	tree := open(t, writeLayer(t, src, "color", []string{"z0/y0/x0.wkw"}), ".")
	entries, err := fs.ReadDir(tree, "color")
	if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "precomputed" }) {
		t.Errorf("the layer lists %v; %v", entries, err)
	}
	for _, name := range []string{"color/precomputed/info", "color/precomputed/1",
		"color/precomputed/1/0-16_16-32_32-48"} {
		if _, err := fs.Stat(tree, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if view.PrecomputedReason("1", src.Shape) == "" {
		t.Error("no reason")
	}
}

// TestPrecomputedMagsOfOtherTypes: the names that are found are the names that are listed. They are the scales of info.
func TestPrecomputedMagsOfOtherTypes(t *testing.T) {
	for _, c := range []struct {
		mags   map[string]volume.Type
		broken string // a mag whose header is damaged
		want   []string
	}{
		{map[string]volume.Type{"1": volume.Uint8, "2": volume.Uint8, "4": volume.Uint8}, "",
			[]string{"info", "1", "2", "4"}},
		{map[string]volume.Type{"1": volume.Uint8, "2": volume.Uint16, "4": volume.Uint8}, "",
			[]string{"info", "1", "4"}},
		{map[string]volume.Type{"1": volume.Int64, "2": volume.Uint16, "4": volume.Uint8}, "", []string{"info", "2"}},
		{map[string]volume.Type{"1": volume.Uint8, "2": volume.Uint16, "4": volume.Uint8}, "1", []string{"info", "2"}},
	} {
		dir := t.TempDir()
		for mag, value := range c.mags {
			path := filepath.Join(dir, "color", mag, "z0/y0/x0.wkw")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(32), volume.Cube(16), value, 1)}
			if err := wkw.WriteCube(context.Background(), path, wkw.LZ4, src); err != nil {
				t.Fatal(err)
			}
			if mag == c.broken {
				if err := os.WriteFile(path, []byte("no cube"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		tree := open(t, dir, ".")
		entries, err := fs.ReadDir(tree, "color/precomputed")
		if err != nil {
			t.Fatal(err)
		}
		var listed, found []string
		for _, e := range entries {
			listed = append(listed, e.Name())
		}
		for _, name := range []string{"info", "1", "2", "4", "1-1-1"} {
			if _, err := fs.Stat(tree, "color/precomputed/"+name); err == nil {
				found = append(found, name)
			} else if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
		}
		slices.Sort(listed)
		slices.Sort(c.want)
		slices.Sort(found)
		if !slices.Equal(listed, c.want) || !slices.Equal(found, c.want) {
			t.Errorf("%v: listed %v, found %v, expected %v", c.mags, listed, found, c.want)
		}
	}
}
