package view_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// magFiles are files of the mag that newMag writes.
var magFiles = []string{
	"z0/y0/x0.raw", "z1/y0/x1.raw", "volume.raw", "volume.npy", "volume.tif", "box/3-101_17-64_-5-90.raw",
	"box/-9-20_30-31_0-128.nii", "slices/z0000020.tif",
}

// newMag writes a mag of 2×1×2 cubes of 64³ voxels, in blocks of 16³. Cube 0,0,1 is absent. newMag returns its
// directory, and its tree without a cache.
func newMag(t *testing.T) (dir string, plain fs.FS) {
	t.Helper()
	dir = t.TempDir()
	for _, c := range []volume.Vec{{0, 0, 0}, {1, 0, 0}, {1, 0, 1}} {
		path := filepath.Join(dir, fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0]))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(64), volume.Cube(16), volume.Uint16, 1)}
		if err := wkw.WriteCube(context.Background(), path, wkw.LZ4, src); err != nil {
			t.Fatal(err)
		}
	}
	return dir, newTree(t, dir, view.Options{})
}

// newTree returns the tree of the mag in dir.
func newTree(t *testing.T, dir string, o view.Options) fs.FS {
	t.Helper()
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	root, err := webknossos.Recognise(fsys, ".", webknossos.Options{Name: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return view.New(root, o)
}

// readPiece reads up to n bytes of a file.
func readPiece(f fs.File, off, n int64) ([]byte, error) {
	b := make([]byte, n)
	got, err := vfs.ReadAt(context.Background(), f, b, off)
	if err == io.EOF {
		err = nil
	}
	return b[:got], err
}

// blockReads returns how many blocks were read from the cache one by one. Blocks of slabs do not count.
func blockReads(c *cache.Cache) uint64 {
	s := c.Stats()
	return s.Hits + s.Shared
}

// openSized opens a file and returns its size.
func openSized(t *testing.T, tree fs.FS, name string) (fs.File, int64) {
	t.Helper()
	f, err := tree.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return f, info.Size()
}

// openCube is a cube file in memory.
type openCube struct {
	voxeltest.Source
	info fs.FileInfo
}

func (c openCube) Version() vfs.Version { return vfs.Version{1} }
func (c openCube) Info() fs.FileInfo    { return c.info }
func (c openCube) Close() error         { return nil }

// newCubeTree returns a tree with the cube as x0.raw.
func newCubeTree(cube volume.CubeFile, blocks *cache.Cache) fs.FS {
	return view.New(volume.Root{Cube: &volume.SingleCube{
		Name: "x0", Grid: cube.Grid(),
		Stat: func() (fs.FileInfo, error) { return cube.Info(), nil },
		Open: func() (volume.CubeFile, error) { return cube, nil },
	}}, view.Options{Cache: blocks})
}
