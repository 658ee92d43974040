package wkwfs_test

import (
	"strings"
	"testing"
)

// wings are the parts of the program, the lowest first. A package imports packages of its own wing, and of wings before
// it. [arrows] says which of these.
var wings = [][]string{
	{"internal/small"},
	{"internal/vfs"},
	{"volume"},
	{"internal/fileformat", "internal/tests/refdata"},
	{"internal/arrays", "wkw/lz4block"},
	{"wkw", "webknossos", "precomputed", "zarr", "n5", "hdf5"},
	{"internal/stores"},
	{"cache"},
	{"internal/read"},
	{"internal/names"},
	{"internal/compose"},
	{"internal/files"},
	{"dataset"},
	{"internal/serve", "fsnode"},
	{"internal/jobs"},
	{"internal/write"},
	{"internal/host"},
	{"internal/tests"},
	{"integration"},
	{"cmd"},
}

// wingOf returns the height of the wing that a package is in: of all wings above the package, the one with the longest
// path. It returns -1 if there is none.
func wingOf(name string) int {
	height, longest := -1, ""
	for i, paths := range wings {
		for _, path := range paths {
			if (name == path || strings.HasPrefix(name, path+"/")) && len(path) > len(longest) {
				height, longest = i, path
			}
		}
	}
	return height
}

// TestWings: no package imports one of a wing above its own.
func TestWings(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if name == module {
			continue
		}
		height := wingOf(name)
		if height < 0 {
			t.Errorf("package %s is in no wing: choose one, or enter a new one in the table of this test", name)
		}
		for _, imported := range p.Imports {
			if imported, ours := strings.CutPrefix(imported, module+"/"); ours && wingOf(imported) > height {
				t.Errorf("package %s imports %s, which is in a wing above it", name, imported)
			}
		}
	}
}
