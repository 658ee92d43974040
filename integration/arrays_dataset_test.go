package integration

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestMixedDatasets mounts WEBKNOSSOS datasets whose layers are WKW, Zarr, N5 and Precomputed, as its own programs
// write them: each layer and mag has its box, its voxels and its place. A layer and a mag of a dataset, mounted alone,
// have the same.
func TestMixedDatasets(t *testing.T) {
	parallelHeavy(t)
	root, manifest := refdata.Arrays(t)
	for _, d := range manifest.Datasets {
		t.Run(d.Dataset, func(t *testing.T) {
			source := filepath.Join(root, d.Dataset)
			dir := mount(t, source, "--follow-links")
			for _, a := range manifest.Arrays {
				if a.Dataset != d.Dataset {
					continue
				}
				mag := a.Mag
				if a.Format == "precomputed" {
					mag = filepath.Base(a.Path) // the key of the scale
				}
				if filepath.Base(a.Path) == "1-1-1" { // a mag has the name of its directory
					mag = "1-1-1"
				}
				name := filepath.Join(dir, a.Layer, mag, "volume.raw")
				if info, err := os.Lstat(filepath.Join(root, a.Dataset, "linked/1")); a.Layer == "linked" &&
					err == nil && info.Mode().IsRegular() {
					t.Log("not tested: this copy of the data lacks the symbolic link linked/1")
					continue
				}
				if a.Expect == "error" {
					if _, err := os.Stat(name); !os.IsNotExist(err) {
						t.Errorf("%s: got %v, want no such layer", name, err)
					}
					continue
				}
				if sum, n := hash(t, name); sum != a.SHA256 {
					t.Errorf("%s: %d bytes with hash %s, want %s", name, n, sum, a.SHA256)
				}
				var described struct{ Origin [3]int }
				readJSON(t, strings.TrimSuffix(name, "raw")+"json", &described)
				if a.Format != "wkw" {
					wantChunks(t, filepath.Dir(name))
				}
				if described.Origin != a.TopLeft {
					t.Errorf("%s starts at %v, want %v", name, described.Origin, a.TopLeft)
				}
			}
		})
	}
}

// wantChunks compares each chunk of a mag with the box of its name: a chunk starts where the layer starts, if that is
// inside.
func wantChunks(t *testing.T, mag string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(mag, "chunks"))
	if err != nil || len(entries) == 0 {
		t.Errorf("%s: %d chunks, %v", mag, len(entries), err)
	}
	for _, e := range entries {
		got, err := os.ReadFile(filepath.Join(mag, "chunks", e.Name()))
		if err != nil {
			t.Error(err)
		}
		if want, err := os.ReadFile(filepath.Join(mag, "box", e.Name())); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s/chunks/%s differs from the box: %v", mag, e.Name(), err)
		}
	}
}

// TestPartsOfMixedDatasets mounts a layer and a mag of arrays alone: their box and voxel size are those of the dataset.
func TestPartsOfMixedDatasets(t *testing.T) {
	root := refdata.Dir(t, "zarr")
	whole := mount(t, filepath.Join(root, "wk_boxes"))
	layer := mount(t, filepath.Join(root, "wk_boxes/vec"))
	mag := mount(t, filepath.Join(root, "wk_boxes/vec/1"))
	var want, got struct {
		Origin    [3]int
		Shape     [3]int
		VoxelSize [3]float64 `json:"voxel_size"`
	}
	readJSON(t, filepath.Join(whole, "vec/1/volume.json"), &want)
	if want.Origin != [3]int{16, 8, 4} || want.VoxelSize != [3]float64{11.24, 11.24, 28} {
		t.Errorf("got %+v", want)
	}
	sum, _ := hash(t, filepath.Join(whole, "vec/1/volume.raw"))
	for _, dir := range []string{filepath.Join(layer, "1"), mag} {
		if readJSON(t, filepath.Join(dir, "volume.json"), &got); got != want {
			t.Errorf("%s: got %+v, want %+v", dir, got, want)
		}
		if other, _ := hash(t, filepath.Join(dir, "volume.raw")); other != sum {
			t.Errorf("%s has other voxels", dir)
		}
	}
}
