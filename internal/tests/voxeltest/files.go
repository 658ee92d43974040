package voxeltest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/volume"
)

// Pattern returns the voxels of a flat array. Their bytes encode their position. None is NaN.
func Pattern(g volume.Grid) []byte {
	b := make([]byte, g.Bytes())
	for i := range b {
		b[i] = byte(i*7+i>>8*13) | 1
		if g.Type.Size() > 1 && i%g.Type.Size() == g.Type.Size()-1 {
			b[i] &= 0x3F
		}
	}
	return b
}

// Export writes an array to a directory in a format of a mount, and its voxels as volume.raw. It returns the path of
// the file.
func Export(t testing.TB, dir string, a header.Array, voxels []byte, suffix string) string {
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

func write(t testing.TB, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TempDir returns a directory in memory where there is such a file system, else that of t. Disks take long to sync
// files.
func TempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "wkwfs")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
