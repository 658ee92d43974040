package view_test

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// manyCubes returns a view of a mag of n cubes in one directory, and the source.
func manyCubes(t *testing.T, n int) (*view.FS, *voxeltest.Many) {
	t.Helper()
	cube := smallCube(t)
	source := voxeltest.ManyCubes(n, cube, cube[:wkw.HeaderSize])
	root, err := webknossos.Recognise(source, ".", webknossos.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return view.New(root, view.Options{}), source
}

// smallCube returns a cube file of one voxel.
func smallCube(t *testing.T) []byte {
	t.Helper()
	h := wkw.Header{CubeBlocks: 1, BlockSide: 1, BlockType: wkw.Raw, Type: volume.Uint8, Channels: 1,
		DataOffset: wkw.HeaderSize}
	b, err := h.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return append(b, 1)
}

// TestListingTakesNoMemory: a directory of any number of cubes is listed with the memory of some thousand entries, and
// so is the survey that finds the bounding box.
func TestListingTakesNoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	const limit = 100 << 20
	n := voxeltest.Large(1_000_000) // 10 million need no more
	tree, _ := manyCubes(t, n)
	for _, c := range []struct {
		dir  string
		want int
	}{{".", 14}, {"z0/y0", 2 * n}} {
		entries := 0
		start := time.Now()
		peak := voxeltest.PeakHeap(func() {
			for batch, err := range tree.List(c.dir) {
				if entries += len(batch); err != nil {
					t.Fatal(err)
				}
			}
		})
		t.Logf("%s: %d entries, %d MiB, %v", c.dir, entries, peak>>20, time.Since(start))
		if entries != c.want && c.dir != "." || peak > limit {
			t.Errorf("%s: %d entries with %d MiB, want %d with at most %d", c.dir, entries, peak>>20, c.want, limit>>20)
		}
	}
	if info, err := fs.Stat(tree, "volume.raw"); err != nil || info.Size() != int64(n) {
		t.Errorf("volume.raw: %v, %v, want %d bytes", info, err, n)
	}
}

// TestListIsComplete: the batches of a large directory have each entry once, and all but the last are full.
func TestListIsComplete(t *testing.T) {
	const n = vfs.BatchSize + 100
	tree, _ := manyCubes(t, n)
	seen := map[string]bool{}
	for batch, err := range tree.List("z0/y0") {
		if err != nil {
			t.Fatal(err)
		}
		if len(seen)+len(batch) < 2*n && len(batch) != vfs.BatchSize {
			t.Errorf("a batch of %d", len(batch))
		}
		for i, e := range batch {
			if seen[e.Name()] || i > 0 && batch[i-1].Name() >= e.Name() {
				t.Errorf("%s is repeated or not in order", e.Name())
			}
			seen[e.Name()] = true
		}
	}
	for i := range n {
		if !seen[fmt.Sprintf("x%d.raw", i)] || !seen[fmt.Sprintf("x%d.blocks", i)] {
			t.Fatalf("cube %d is missing", i)
		}
	}
	if all, err := tree.ReadDir("z0/y0"); len(all) != 2*n || err != nil || len(seen) != 2*n {
		t.Errorf("%d entries, %v; %d in batches", len(all), err, len(seen))
	}
}

// TestDeepBox: slices of a box of any depth are listed only up to a million. Each of them can be opened by name.
func TestDeepBox(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	cube := smallCube(t)
	for _, c := range []struct {
		depth  int
		listed int
	}{{1 << 20, 1 << 20}, {1<<20 + 1, 0}, {1 << 40, 0}} {
		props := fmt.Sprintf(
			`{"dataLayers": [{"name": "color", "boundingBox": {"topLeft": [0, 0, 0], "width": 1, "height": 1, "depth": %d}}]}`, c.depth)
		root, err := webknossos.Recognise(fstest.MapFS{
			webknossos.PropertiesFile:    {Data: []byte(props)},
			"color/1/header.wkw":         {Data: cube[:wkw.HeaderSize]},
			"color/1/z0/y0/x0.wkw":       {Data: cube},
			"color/1/z1048575/y0/x0.wkw": {Data: cube},
		}, ".", webknossos.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tree := view.New(root, view.Options{})
		listed := 0
		peak := voxeltest.PeakHeap(func() {
			for batch, err := range tree.List("color/1/slices") {
				if listed += len(batch); err != nil {
					t.Fatal(err)
				}
			}
		})
		if listed != c.listed || peak > 100<<20 {
			t.Errorf("depth %d: %d slices with %d MiB, want %d", c.depth, listed, peak>>20, c.listed)
		}
		last := fmt.Sprintf("color/1/slices/z%07d.tif", c.depth-1)
		if _, err := fs.Stat(tree, last); err != nil {
			t.Error(err)
		}
	}
}
