package integration

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestArchive mounts a zipped image: it has the voxels of the directory. After the archive has been cut, reads are
// errors, never zeros.
func TestArchive(t *testing.T) {
	t.Parallel()
	root, manifest := refdata.Arrays(t)
	const image = "ome05_czyx/labels/cells"
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	err := filepath.WalkDir(filepath.Join(root, image), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(filepath.Join(root, image), path)
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			var content []byte
			if content, err = os.ReadFile(path); err == nil {
				_, err = f.Write(content)
			}
		}
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(tempDir(t), "cells.ozx")
	writeFile(t, archive, b.Bytes())
	dir := mount(t, archive)
	count := 0
	for _, a := range manifest.Arrays {
		if filepath.Dir(a.Path) != image {
			continue
		}
		count++
		if sum, n := hash(t, filepath.Join(dir, filepath.Base(a.Path), "volume.raw")); sum != a.SHA256 {
			t.Errorf("%s: %d bytes with hash %s, want %s", a.Path, n, sum, a.SHA256)
		}
	}
	if count < 2 {
		t.Errorf("%d arrays, want at least 2", count)
	}
	if err := os.Truncate(archive, 1000); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "s0/box/1-9_1-9_1-9.raw")); err == nil {
		t.Errorf("after the archive was cut: got %d bytes", len(b))
	}
}
