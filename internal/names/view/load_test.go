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

// TestEachBlockIsLoadedOnce reads a cube, and a volume of several cubes, from start to end. If the budget has room for
// 1.5 slabs, each block is loaded once. On a busy machine, a goroutine may copy a few blocks only after they were
// evicted, so a few more loads are allowed.
func TestEachBlockIsLoadedOnce(t *testing.T) {
	// 4³ blocks of 8 KiB
	src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(64), volume.Cube(16), volume.Uint16, 1)}
	dir := t.TempDir()
	for _, name := range []string{"z0/y0/x0.wkw", "z0/y0/x1.wkw"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := wkw.WriteCube(context.Background(), path, wkw.LZ4, src); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		blocks int // in the file
		slab   int // bytes
	}{{"z0/y0/x0.raw", 64, 16 * 8192}, {"volume.raw", 128, 32 * 8192}, {"volume.npy", 128, 32 * 8192}} {
		for _, slabs := range []float64{1.5, 2, 3, 8} {
			for _, piece := range []int{4096, 10_000, 1 << 17, 1 << 20} {
				t.Run(fmt.Sprintf("%s/%v slabs/%d bytes", filepath.Base(c.name), slabs, piece), func(t *testing.T) {
					blocks := cache.New(int64(slabs * float64(c.slab)))
					defer blocks.Close()
					readAll(t, dir, c.name, blocks, piece)
					if loads := int(blocks.Stats().Loads); loads < c.blocks || loads > c.blocks+c.blocks/16 {
						t.Errorf("%d loads, expected about %d", loads, c.blocks)
					}
				})
			}
		}
	}
}

// readAll reads a file from start to end, in pieces.
func readAll(t *testing.T, dir, name string, blocks *cache.Cache, piece int) {
	t.Helper()
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	root, err := webknossos.Recognise(fsys, ".", webknossos.Options{Name: "1"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := view.New(root, view.Options{Cache: blocks}).Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func(f fs.File) {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}(f)
	p := make([]byte, piece)
	for off := int64(0); ; {
		n, err := vfs.ReadAt(context.Background(), f, p, off)
		off += int64(n)
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
