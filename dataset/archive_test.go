package dataset

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// zipDir writes a zip archive of a directory. Its files are below prefix.
func zipDir(t *testing.T, dir, prefix, archive string, method uint16) {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		f, err := w.CreateHeader(&zip.FileHeader{Name: prefix + name, Method: method})
		if err == nil {
			_, err = f.Write(content)
		}
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.WriteFile(archive, b.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestArchives reads the same voxels from arrays and groups in zip archives as from those in directories.
func TestArchives(t *testing.T) {
	root := refdata.Dir(t, "zarr")
	for _, c := range []struct{ dir, prefix, name string }{
		{"ome05_czyx/labels/cells", "", "image.ozx"},
		{"ome05_czyx/labels/cells", "image.zarr/", "image.zarr.zip"},
		{"v3_shards/outer_transpose", "", "ARRAY.ZIP"},
		{"v2_blosc/lz4_s2_t2", "", "array.zarr.zip"},
		{"n5_compression/gzip", "array.n5/", "array.n5.zip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(root, c.dir)
			archive := filepath.Join(t.TempDir(), c.name)
			zipDir(t, dir, c.prefix, archive, zip.Store)
			want, got := voxelsOf(t, dir), voxelsOf(t, archive)
			if len(want) < 1000 || !bytes.Equal(got, want) {
				t.Errorf("got %d bytes, expected %d others", len(got), len(want))
			}
		})
	}
}

// voxelsOf returns the voxels of the finest mag of a source.
func voxelsOf(t *testing.T, path string) []byte {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := s.Root.AsLayer()
	names, err := l.Mags()
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Mag(names[0])
	if err != nil {
		t.Fatal(err)
	}
	box, err := m.Bounds()
	if err != nil {
		t.Fatal(err)
	}
	voxels, err := volume.ReadBox(t.Context(), m, box)
	if err != nil {
		t.Fatal(err)
	}
	return voxels
}

// TestArchiveErrors: archives that have no array are errors that say so. Those that compress their files are read.
func TestArchiveErrors(t *testing.T) {
	root, dir := refdata.Dir(t, "zarr", "ome05_czyx/labels/cells"), t.TempDir()
	zipDir(t, root, "", filepath.Join(dir, "compressed.ozx"), zip.Deflate)
	zipDir(t, filepath.Join(root, "s0/c"), "", filepath.Join(dir, "chunks.zip"), zip.Store)
	if err := os.WriteFile(filepath.Join(dir, "text.zip"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, want := voxelsOf(t, filepath.Join(dir, "compressed.ozx")), voxelsOf(t, root); !bytes.Equal(got, want) {
		t.Errorf("compressed.ozx: got %d bytes, expected %d others", len(got), len(want))
	}
	for name, want := range map[string]string{
		"chunks.zip": "not a Zarr array or group",
		"text.zip":   "text.zip: zip directory",
	} {
		if _, err := Open(t.Context(), filepath.Join(dir, name), Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, expected %q", name, err, want)
		}
	}
}
