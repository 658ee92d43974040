package wkwfs_test

import "testing"

// maxKB are the limits of documents, in units of 1,024 bytes.
var maxKB = map[string]int{
	"PERFORMANCE.md":              15,
	"ARCHITECTURE.md":             15,
	"README.md":                   12,
	"SEMANTICS.md":                25,
	"docs/performance-history.md": 12,
}

// TestDocumentsAreShort checks the sizes of documents. A document that has reached its limit gets shorter before it gets longer.
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
}
