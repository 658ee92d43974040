package vfstest

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// Page is the length of a page of memory.
const Page = 4096

// Expect is what [Test] expects of a file system.
type Expect struct {
	// Files are all files by their paths, with their contents. Nil stands for what the file has, whatever that is.
	Files map[string][]byte

	// Has are the abilities of the file system, and of its first file and the description of that. The first file is
	// that with the first path.
	Has string

	// Some says that the file system has more files than Files.
	Some bool

	// Live are files about the server. No listing shows them.
	Live []string

	// Replace writes a file of the source. Nil: the source never changes.
	Replace func(name string, content []byte)

	// Forget ends the time in which what the source said before is believed. Nil: nothing is believed.
	Forget func()
}

// Shapes returns files of all shapes: empty, of one byte, with a hole, larger than a page, deep in directories, with a
// name that URLs have to escape.
func Shapes() map[string][]byte {
	large := make([]byte, 5*Page+17)
	for i := range large {
		large[i] = byte(i*7^i>>8) | 1
	}
	hole := slices.Clone(large[:3*Page])
	clear(hole[Page : 2*Page])
	return map[string][]byte{"a": []byte("the bytes of a"), "empty": {}, "one": {7}, "dir/hole": hole,
		"dir/a b+%ü": []byte("escaped"), "dir/deep/large": large}
}

// WriteShapes writes [Shapes] below a directory. Runs of zeros are holes.
func WriteShapes(t *testing.T, dir string) {
	t.Helper()
	for name, content := range Shapes() {
		Write(t, filepath.Join(dir, name), content)
	}
}

// Write writes a file and its directories. It leaves out pages of zeros. A file that exists is replaced by a rename.
func Write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(filepath.Dir(filepath.Dir(name)), "new")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = f.Truncate(int64(len(content)))
	for off := 0; off < len(content) && err == nil; off += Page {
		if page := content[off:min(off+Page, len(content))]; !bytes.Equal(page, make([]byte, len(page))) {
			_, err = f.WriteAt(page, int64(off))
		}
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// tester tests one file system.
type tester struct {
	*testing.T
	fsys fs.FS
	e    Expect
}

// Test checks a file system. In short form, it leaves out fstest, which reads every file in many ways, one after the
// other: what goroutines share, they share in the other checks, too.
func Test(t *testing.T, fsys fs.FS, e Expect) {
	t.Helper()
	s := tester{t, fsys, e}
	s.e.Files = maps.Clone(e.Files)
	if !testing.Short() {
		if err := fstest.TestFS(fsys, s.names()...); err != nil {
			t.Error(err)
		}
	}
	for _, name := range s.names() {
		if s.e.Files[name] == nil {
			s.e.Files[name] = s.content(name)
		}
	}
	s.abilities()
	s.errors()
	for dir := range s.directories() {
		s.listing(dir)
	}
	for _, name := range s.names() {
		s.file(name)
	}
	for _, name := range e.Live {
		s.live(name)
	}
	if e.Replace != nil {
		s.changes()
	}
}

// names returns the paths of the files, in order.
func (s tester) names() []string { return slices.Sorted(maps.Keys(s.e.Files)) }

// content reads a file in order.
func (s tester) content(name string) []byte {
	s.Helper()
	content, err := fs.ReadFile(s.fsys, name)
	if err != nil {
		s.Fatalf("%s: %v", name, err)
	}
	return content
}

// directories returns the paths of the directories, each with its entries.
func (s tester) directories() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, name := range s.names() {
		for name != "." {
			dir := path.Dir(name)
			if all[dir] == nil {
				all[dir] = map[string]bool{}
			}
			all[dir][path.Base(name)] = true
			name = dir
		}
	}
	return all
}

// open opens a file.
func (s tester) open(name string) fs.File {
	s.Helper()
	f, err := s.fsys.Open(name)
	if err != nil {
		s.Fatalf("%s: %v", name, err)
	}
	return f
}

// stat describes a file.
func (s tester) stat(name string) fs.FileInfo {
	s.Helper()
	i, err := fs.Stat(s.fsys, name)
	if err != nil {
		s.Fatalf("%s: %v", name, err)
	}
	return i
}

// abilities compares the abilities with those that are expected.
func (s tester) abilities() {
	s.Helper()
	name := s.names()[0]
	f := s.open(name)
	defer f.Close()
	x := map[kind]any{tree: s.fsys, file: f, info: s.stat(name)}
	want := strings.Fields(s.e.Has)
	for _, a := range abilities {
		answer, has := a.use(x[a.of])
		has = has && (a.of != info || answer != false) // every file is live or not, and writable or not
		if expected := slices.Contains(want, a.String()); has != expected {
			s.Errorf("%T has %s: %v, expected %v", x[a.of], a, has, expected)
		}
	}
	for _, ability := range want {
		if !known(ability) {
			s.Errorf("%s is no ability", ability)
		}
	}
}

// live checks a file about the server. Its content changes with each open, so its size is not known before.
func (s tester) live(name string) {
	s.Helper()
	if !vfs.DetailsOf(s.stat(name)).Live {
		s.Errorf("%s is not live", name)
	}
	f := s.open(name)
	defer f.Close()
	p := make([]byte, 1<<20)
	n, _ := vfs.ReadAt(s.Context(), f, p, 0)
	again, _ := vfs.ReadAt(s.Context(), f, make([]byte, 1<<20), 0)
	if n == 0 || again != n {
		s.Errorf("%s: read %d bytes, then %d", name, n, again)
	}
}
