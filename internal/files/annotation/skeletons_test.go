package annotation

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// treesOf returns a directory with an NML file of trees of one node each.
func treesOf(names ...string) fstest.MapFS {
	var b strings.Builder
	b.WriteString(`<things><parameters><scale x="1000" y="2000" z="3000"/></parameters><volume id="0"/>`)
	for i, name := range names {
		b.WriteString(`<thing id="` + fmt.Sprint(i) + `" name="`)
		xml.EscapeText(&b, []byte(name)) // it never fails
		fmt.Fprintf(&b, `"><nodes><node id="%d" x="1" y="2" z="3" radius="500"/></nodes></thing>`, i)
	}
	b.WriteString(`</things>`)
	return fstest.MapFS{"a.nml": {Data: []byte(b.String()), Mode: 0o640, ModTime: time.Unix(1, 0)}}
}

func openFiles(t *testing.T, fsys fs.FS) (*Dataset, fs.FS) {
	t.Helper()
	d, err := Open(fsys, ".", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return d, d.Files()
}

// TestSkeletonNames: each tree has a file, whose name is safe and no other's. The content is that of the tree.
func TestSkeletonNames(t *testing.T) {
	long := strings.Repeat("ä", 200)
	want := map[string]string{ // the file by the tree's name
		"plain": "plain.swc", "a/../b": "a_.._b.swc", "..": "tree_2.swc", "": "tree_3.swc", "PLAIN": "PLAIN_2.swc",
		"a:b\n\"c\"": "a_b__c_.swc",
		long:         strings.Repeat("ä", maxStem/2) + ".swc", ".hidden ": "hidden.swc", "plain_2": "plain_2_2.swc",
		"日本": "日本.swc", "\ufffd": "_.swc",
	}
	names := []string{"plain", "a/../b", "..", "", "PLAIN", "a:b\n\"c\"", long, ".hidden ", "plain_2", "日本", "\ufffd"}
	_, files := openFiles(t, treesOf(names...))
	entries, err := fs.ReadDir(files, SkeletonsDir)
	if err != nil || len(entries) != len(names) {
		t.Fatal(entries, err)
	}
	for i, name := range names {
		file := SkeletonsDir + "/" + want[name]
		b, err := fs.ReadFile(files, file)
		if line := fmt.Sprintf("\n%d 0 1 4 9 0.5 -1\n", i); err != nil || !strings.HasSuffix(string(b), line) {
			t.Errorf("%q: got %q, %v", name, b, err)
			continue
		}
		info, err := fs.Stat(files, file)
		if err != nil || info.Size() != int64(len(b)) || info.Mode() != 0o640 || info.Name() != want[name] ||
			!info.ModTime().Equal(time.Unix(1, 0)) {
			t.Errorf("%q: %v, %v", name, info, err)
		}
	}
	if _, err := fs.Stat(files, SkeletonsDir+"/other.swc"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	top, err := fs.ReadDir(files, ".")
	if err != nil || len(top) != 2 || top[0].Name() != "a.nml" || !top[1].IsDir() || top[1].Name() != SkeletonsDir {
		t.Error(top, err)
	}
	if dir, err := fs.Stat(files, SkeletonsDir); err != nil || dir.Mode() != fs.ModeDir|0o550 {
		t.Error(dir, err)
	}
}

// TestSkeletonSpacing: the size of a voxel of the dataset counts, and the file is another version with it.
func TestSkeletonSpacing(t *testing.T) {
	d, files := openFiles(t, treesOf("t"))
	const file = SkeletonsDir + "/t.swc"
	before, err := fs.Stat(files, file)
	if err != nil {
		t.Fatal(err)
	}
	d.SetSpacing([3]float64{10, 10, 10})
	files = d.Files()
	after, err := fs.Stat(files, file)
	b, failed := fs.ReadFile(files, file)
	if err != nil || failed != nil || !strings.HasSuffix(string(b), "\n0 0 0.01 0.02 0.03 0.5 -1\n") ||
		after.Size() != int64(len(b)) {
		t.Errorf("got %q, %v, %v, %v", b, after, err, failed)
	}
	if vfs.VersionOf(before) == vfs.VersionOf(after) {
		t.Error("two contents have one version")
	}
}

// TestSkeletonChange: if the NML file changes, its trees are an error. A tree that is none is an error of its file.
func TestSkeletonChange(t *testing.T) {
	fsys := treesOf("t", "bad")
	file := fsys["a.nml"]
	file.Data = []byte(strings.Replace(string(file.Data), `</nodes></thing></things>`,
		`</nodes><edge source="1" target="9"/></thing></things>`, 1))
	d, files := openFiles(t, fsys)
	if _, err := fs.ReadFile(files, SkeletonsDir+"/t.swc"); err != nil {
		t.Fatal(err)
	}
	if found := d.CheckMetadata(); len(found) != 1 || !strings.Contains(found[0].Error(), `a.nml: tree "bad"`) {
		t.Errorf("check finds %v", found)
	}
	if _, err := fs.ReadFile(files, SkeletonsDir+"/bad.swc"); err == nil ||
		!strings.Contains(err.Error(), `a.nml: tree "bad": edge from 1 to 9`) {
		t.Error(err)
	}
	changed := treesOf("t")
	changed["a.nml"].ModTime = time.Unix(2, 0)
	fsys["a.nml"] = changed["a.nml"]
	for name, read := range map[string]func() error{
		"a file":        func() error { _, err := fs.ReadFile(files, SkeletonsDir+"/t.swc"); return err },
		"the directory": func() error { _, err := fs.ReadDir(files, SkeletonsDir); return err },
		"stat":          func() error { _, err := fs.Stat(files, SkeletonsDir); return err },
	} {
		if err := read(); !errors.Is(err, vfs.ErrChanged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if top, err := fs.ReadDir(files, "."); err != nil || len(top) != 1 {
		t.Error(top, err)
	}
}
