package view_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// BenchmarkOpenChunk opens and reads a chunk of a layer of 1,000 cubes.
func BenchmarkOpenChunk(b *testing.B) {
	dir := b.TempDir()
	src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(8), volume.Cube(4), volume.Uint8, 1)}
	for x := range 1000 {
		path := filepath.Join(dir, fmt.Sprintf("color/1/z0/y0/x%d.wkw", x))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := wkw.WriteCube(b.Context(), path, wkw.Raw, src); err != nil {
			b.Fatal(err)
		}
	}
	fsys, err := store.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer fsys.Close()
	root, err := webknossos.Recognise(fsys, ".", webknossos.Options{})
	if err != nil {
		b.Fatal(err)
	}
	tree := view.New(root, view.Options{})
	if _, err := fs.ReadFile(tree, "color/1/volume.raw"); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := fs.ReadFile(tree, "color/precomputed/1/0-32_0-8_0-8"); err != nil {
			b.Fatal(err)
		}
	}
}
