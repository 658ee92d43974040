package wkwfs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxKB are the limits of documents, in units of 1,024 bytes.
var maxKB = map[string]int{
	"PERFORMANCE.md":              15,
	"ARCHITECTURE.md":             15,
	"README.md":                   12,
	"SEMANTICS.md":                25,
	"docs/performance-history.md": 12,
}

// maxAllBytes is the limit of all documents together: 160,000 bytes, not 160 KiB.
const maxAllBytes = 160_000

// TestDocumentsAreShort checks the sizes of documents. A document that has reached its limit gets shorter before it
// gets longer.
func TestDocumentsAreShort(t *testing.T) {
	all := documents(t)
	for path, limit := range maxKB {
		text, exists := all[path]
		if !exists {
			t.Errorf("%s does not exist", path)
		}
		if len(text) > limit<<10 {
			t.Errorf("%s: got %d bytes, expected at most %d", path, len(text), limit<<10)
		}
	}
	if sum := sizeOfDocuments(t); sum > maxAllBytes {
		t.Errorf("all documents: got %d bytes, expected at most %d", sum, maxAllBytes)
	}
}

// sizeOfDocuments returns the size of all texts in Markdown of this repository, in bytes. Folders that builds write do
// not count.
func sizeOfDocuments(t *testing.T) (sum int64) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case d.IsDir() && (name == "bin" || name == "dist" || name == "node_modules" ||
			strings.HasPrefix(name, ".") && name != "."):
			return fs.SkipDir
		case !d.IsDir() && filepath.Ext(name) == ".md":
			info, err := d.Info()
			if err != nil {
				return err
			}
			sum += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
