package importer

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// The arrays of the tests have this geometry. It is not aligned to blocks.
var (
	origin  = volume.Vec{5, 30, 11}
	spacing = [3]float64{11.24, 11.24, 25}
	size    = volume.Vec{37, 21, 19}
)

// cases returns how many random cases a test tries: a quarter of n in short form.
func cases(n uint64) uint64 {
	if testing.Short() {
		return n / 4
	}
	return n
}

// small returns options of an image with small cubes, so that the arrays of the tests have many.
func small(layer string) Options {
	return Options{Layer: layer, Category: Color, Block: 8, Cube: 16, Compression: wkw.LZ4}
}

// array returns the description of an array.
func array(t volume.Type, channels int) header.Array {
	return header.Array{
		Grid: volume.Grid{Size: size, Block: volume.Cube(1), Type: t, Channels: channels, Origin: origin,
			Spacing: spacing},
		Data: "volume.raw",
	}
}

func write(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// tree returns the tree of a dataset.
func tree(t *testing.T, dir string) fs.FS {
	t.Helper()
	root, err := webknossos.Recognise(os.DirFS(dir), ".", webknossos.Options{Name: filepath.Base(dir)})
	if err != nil {
		t.Fatal(err)
	}
	blocks := cache.New(64 << 20) // planes read each block many times
	t.Cleanup(func() { blocks.Close() })
	return view.New(root, view.Options{Cache: blocks})
}

func read(t *testing.T, fsys fs.FS, name string) []byte {
	t.Helper()
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// mustOpen opens an input.
func mustOpen(t *testing.T, name string) *arrayfile.Array {
	t.Helper()
	in, err := arrayfile.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// mustOpenRaw opens raw voxels with the geometry of a grid.
func mustOpenRaw(t *testing.T, name string, g volume.Grid) *arrayfile.Array {
	t.Helper()
	in, err := arrayfile.OpenRaw(name, arrayfile.RawShape{Size: g.Size, Type: g.Type, Channels: g.Channels})
	if err != nil {
		t.Fatal(err)
	}
	in.Grid.Spacing, in.Grid.Origin, in.Positioned = g.Spacing, g.Origin, true
	t.Cleanup(func() { in.Close() })
	return in
}
