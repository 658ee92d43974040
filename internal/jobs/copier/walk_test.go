package copier

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestManySmallFiles(t *testing.T) {
	var files []*fakeFile
	for i := range 600 {
		files = append(files, &fakeFile{name: fmt.Sprintf("d/z%d/y%d/x%d", i/100, i/10%10, i%10), size: int64(i * 7)})
	}
	dir := t.TempDir()
	stats := mustRun(t, newFake(files...), "d", dir, ".")
	for _, f := range files {
		name := strings.TrimPrefix(f.name, "d/")
		check(t, filepath.Join(dir, filepath.Dir(name)), filepath.Base(name), f)
	}
	if stats.CopiedFiles.Load() != 600 || stats.FoundFiles.Load() != 600 {
		t.Errorf("got %+v", stats)
	}
	again := mustRun(t, newFake(files...), "d", dir, ".")
	if again.KeptFiles.Load() != 600 || again.CopiedFiles.Load() != 0 {
		t.Errorf("again: %+v", again)
	}
}

func TestSelect(t *testing.T) {
	src := newFake(&fakeFile{name: "a/b", size: 1}, &fakeFile{name: "a/c", size: 1}, &fakeFile{name: "d/e", size: 1})
	dir := t.TempDir()
	_, stats, err := run(t, t.Context(), src, ".", dir, ".", func(o *Options) {
		o.Select = func(dir string, entries []fs.DirEntry) []fs.DirEntry {
			return slices.DeleteFunc(entries,
				func(e fs.DirEntry) bool { return dir == "." && e.Name() == "d" || e.Name() == "c" })
		}
	})
	if err != nil || stats.FoundFiles.Load() != 1 || stats.CopiedFiles.Load() != 1 {
		t.Errorf("%v, %+v", err, stats)
	}
}
