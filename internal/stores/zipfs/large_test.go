package zipfs

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestLargeDirectory opens an archive with many entries: its directory, which is read in parts, takes about its own
// length of memory.
func TestLargeDirectory(t *testing.T) {
	const side = 40
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "a.zip"))
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for i := range side * side * side {
		name := fmt.Sprintf("a-directory-with-a-long-name/%d/%d/%d", i/side/side, i/side%side, i%side)
		if _, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	a, err := Open(os.DirFS(dir), "a.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	runtime.GC()
	runtime.ReadMemStats(&after)
	length := len(a.index.stored)
	if length <= partSize || len(a.index.starts) != side*side*side {
		t.Errorf("%d bytes, %d entries", length, len(a.index.starts))
	}
	if grown := int(after.HeapAlloc) - int(before.HeapAlloc); grown > length*5/4 {
		t.Errorf("a directory of %d bytes takes %d", length, grown)
	}
	for _, name := range []string{"a-directory-with-a-long-name/0/0/0", "a-directory-with-a-long-name/39/39/39"} {
		if _, err := a.Stat(name); err != nil {
			t.Error(err)
		}
	}
	entries, err := a.ReadDir("a-directory-with-a-long-name/17")
	if err != nil || len(entries) != side {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}
