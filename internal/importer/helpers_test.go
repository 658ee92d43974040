package importer

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/header"
	"github.com/wkwfs/wkwfs/internal/view"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// origin and spacing of the arrays of the tests, aligned to nothing.
var (
	origin  = volume.Vec{5, 30, 11}
	spacing = [3]float64{11.24, 11.24, 25}
	size    = volume.Vec{37, 21, 19}
)

// small is cubes that the arrays of the tests have many of.
func small(layer string) Options {
	return Options{Layer: layer, Block: 8, Cube: 16, Compression: wkw.LZ4}
}

// array describes an array of the tests.
func array(t volume.Type, channels int) header.Array {
	return header.Array{
		Grid: volume.Grid{Size: size, Block: volume.Cube(1), Type: t, Channels: channels, Origin: origin, Spacing: spacing},
		Data: "volume.raw",
	}
}

// pattern returns voxels whose bytes encode where they are; none is NaN.
func pattern(g volume.Grid) []byte {
	b := make([]byte, g.Bytes())
	for i := range b {
		b[i] = byte(i*7+i>>8*13) | 1
		if g.Type.Size() > 1 && i%g.Type.Size() == g.Type.Size()-1 {
			b[i] &= 0x3F
		}
	}
	return b
}

// export writes the array in a format to a folder and returns the file's name.
func export(t *testing.T, dir string, a header.Array, voxels []byte, suffix string) string {
	t.Helper()
	name := filepath.Join(dir, "volume"+suffix)
	write(t, filepath.Join(dir, "volume.raw"), voxels)
	for _, f := range header.Formats() {
		if f.Suffix != suffix {
			continue
		}
		l, err := f.Layout(a)
		if err != nil {
			t.Fatal(err)
		}
		b := slices.Clone(l.Head)
		if !f.Detached {
			tail := make([]byte, l.TailSize)
			if l.TailSize > 0 {
				if _, err := l.Tail.ReadAt(tail, 0); err != nil {
					t.Fatal(err)
				}
			}
			b = slices.Concat(b, voxels, tail)
		}
		write(t, name, b)
	}
	return name
}

func write(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// tree shows the dataset as a mount would.
func tree(t *testing.T, dir string) fs.FS {
	t.Helper()
	root, err := wkw.Recognise(os.DirFS(dir), ".", wkw.Options{Name: filepath.Base(dir)})
	if err != nil {
		t.Fatal(err)
	}
	blocks := cache.New(64 << 20) // planes need each block many times
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
func mustOpen(t *testing.T, name string) *Input {
	t.Helper()
	in, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// mustOpenRaw opens raw voxels as the array says.
func mustOpenRaw(t *testing.T, name string, g volume.Grid) *Input {
	t.Helper()
	in, err := OpenRaw(name, RawShape{Size: g.Size, Type: g.Type, Channels: g.Channels})
	if err != nil {
		t.Fatal(err)
	}
	in.Grid.Spacing, in.Grid.Origin, in.Placed = g.Spacing, g.Origin, true
	t.Cleanup(func() { in.Close() })
	return in
}
