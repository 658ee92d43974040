package chunked

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// requestCounter counts directories that are listed, and files whose attributes are read.
type requestCounter struct {
	fs.FS
	lists, stats atomic.Int32
}

func (c *requestCounter) List(dir string) iter.Seq2[[]fs.DirEntry, error] {
	c.lists.Add(1)
	return vfs.List(c.FS, dir)
}

func (c *requestCounter) Stat(name string) (fs.FileInfo, error) {
	c.stats.Add(1)
	return fs.Stat(c.FS, name)
}

// TestListingRequests: to list all levels of the cubes takes two requests for each directory, for its kind and its
// entries, and none for a chunk. Attributes take one request for each chunk.
func TestListingRequests(t *testing.T) {
	a := &Array{Shape: []int{8, 6, 6}, Chunk: []int{2, 1, 2}, Type: volume.Uint8, Order: []int{0, 1, 2},
		Key: Key{"c", "/"}}
	_, m := writeArray(t, a, Options{}, "[0 0 0]")
	counter := &requestCounter{FS: m.fsys}
	m.fsys = counter
	zs, err := m.Cubes()
	if err != nil {
		t.Fatal(err)
	}
	rows, cubes := 0, 0
	for _, z := range zs {
		ys, err := m.Cubes(z)
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range ys {
			xs, err := m.Cubes(z, y)
			if err != nil {
				t.Fatal(err)
			}
			rows++
			cubes += len(xs)
		}
	}
	lists, stats := counter.lists.Load(), counter.stats.Swap(0)
	if want := int32(1 + len(zs) + rows); cubes != 4*6*3-1 || lists != want || stats != want {
		t.Errorf("%d cubes: %d directories listed, expected %d; %d attributes", cubes, lists, want, stats)
	}
	for c, err := range m.WalkCubes() {
		if _, statErr := m.StatCubes(c[2], c[1], c[0]); err != nil || statErr != nil {
			t.Fatal(err, statErr)
		}
	}
	if got := counter.stats.Load(); got != int32(cubes) {
		t.Errorf("%d requests for the attributes of %d cubes", got, cubes)
	}
}

// TestListingOfOneTime: the cubes of a time are listed without the directory that has all times: a film has thousands.
func TestListingOfOneTime(t *testing.T) {
	a := &Array{
		Shape: []int{5, 4, 4, 4}, Chunk: []int{1, 2, 2, 2}, Type: volume.Uint8, Order: []int{0, 1, 2, 3},
		Key:   Key{"c", "/"},
		Names: []string{"t", "z", "y", "x"},
	}
	dir, m := writeArray(t, a, Options{Index: []int{3, 0, 0, 0}})
	counter := &requestCounter{FS: m.fsys}
	m.fsys = counter
	cubes := 0
	for _, err := range m.WalkCubes() {
		if err != nil {
			t.Fatal(err)
		}
		cubes++
	}
	if lists := counter.lists.Load(); cubes != 8 || lists != 1+2+4 {
		t.Errorf("got %d cubes after %d directories, expected 8 after those of z, of y and of x", cubes, lists)
	}
	if err := os.RemoveAll(filepath.Join(dir, "c", "3")); err != nil {
		t.Fatal(err)
	}
	m, err := New(os.DirFS(dir), ".", a, Options{Index: []int{3, 0, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range m.WalkCubes() {
		t.Errorf("got cube %v, %v of a time without chunks", c, err)
	}
}
