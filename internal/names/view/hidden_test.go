package view_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/webknossos"
)

// TestHiddenBlocks: hidden directories of blocks are found by name, and nothing else differs.
func TestHiddenBlocks(t *testing.T) {
	dir, _ := writeDataset(t)
	files, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	for _, name := range []string{".", "color/1/z0/y0/x0.wkw"} {
		root, err := webknossos.Recognise(files, name, webknossos.Options{Name: "x0.wkw"})
		if err != nil {
			t.Fatal(err)
		}
		all := walk(t, view.New(root, view.Options{}))
		hidden := view.New(root, view.Options{HideBlocks: true})
		listed := walk(t, hidden)
		blocks := 0
		for name := range all {
			if _, ok := listed[name]; ok == strings.Contains(name, ".blocks") {
				t.Errorf("%s: listed is %t", name, ok)
			}
			if strings.Contains(name, ".blocks") {
				blocks++
				if _, err := fs.Stat(hidden, name); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if blocks == 0 || len(listed) != len(all)-blocks {
			t.Errorf("%s: %d entries, of them %d of blocks; %d are listed", name, len(all), blocks, len(listed))
		}
	}
}

// walk returns the names of all entries.
func walk(t *testing.T, fsys fs.FS) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := fs.WalkDir(fsys, ".", func(name string, _ fs.DirEntry, err error) error {
		names[name] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
