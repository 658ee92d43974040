package mosaic

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestDurableVersion: as another process sees it, the version of a mag that is the same is the same, and every change
// gives another one.
func TestDurableVersion(t *testing.T) {
	dir := t.TempDir()
	src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(8), volume.Cube(4), volume.Uint16, 1)}
	write := func(name string) {
		t.Helper()
		path := filepath.Join(dir, "1", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := wkw.WriteCube(t.Context(), path, wkw.LZ4, src); err != nil {
			t.Fatal(err)
		}
	}
	write("z0/y0/x0.wkw")
	write("z0/y1/x3.wkw")
	// version returns the version in a process that starts after a time.
	version := func(after time.Duration) (durable, own vfs.Version) {
		t.Helper()
		defer func(old int64) { started = old }(started)
		started = time.Now().Add(after).UnixNano()
		files, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer files.Close()
		root, err := webknossos.Recognise(files, "1", webknossos.Options{Name: "1"})
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(root.Mag, true)
		if err != nil {
			t.Fatal(err)
		}
		return m.DurableVersion(), m.Version()
	}
	const later = time.Hour
	seen := map[vfs.Version]string{}
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"nothing", func() {}},
		{"a cube that is replaced", func() { write("z0/y1/x3.wkw") }},
		{"another cube", func() { write("z1/y0/x0.wkw") }},
		{"a cube that is removed", func() { os.Remove(filepath.Join(dir, "1/z0/y1/x3.wkw")) }},
	} {
		c.change()
		v, own := version(later)
		if other, ok := seen[v]; ok || v == own {
			t.Errorf("%s: the version is that of %q, or not durable", c.name, other)
		}
		seen[v] = c.name
		if again, _ := version(later); again != v {
			t.Errorf("%s: another version the second time", c.name)
		}
	}
	// What the process reads may be older than what it describes.
	if err := os.WriteFile(filepath.Join(dir, "1", "header.wkw"), header(t, dir), 0o644); err != nil {
		t.Fatal(err)
	}
	if v, own := version(0); v != own {
		t.Error("metadata that have just changed: the version is durable")
	}
	if v, _ := version(later); seen[v] != "" {
		t.Errorf("other metadata: the version is that of %q", seen[v])
	}
}

// header returns the header of a cube, which is also that of the mag.
func header(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := fs.ReadFile(os.DirFS(dir), "1/z0/y0/x0.wkw")
	if err != nil {
		t.Fatal(err)
	}
	clear(b[8:16]) // the offset of the data
	return b[:16]
}
