package vfstest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// changes replaces the first file while it is open, and adds files to its directory while that is listed.
func (s tester) changes() {
	s.Helper()
	name := s.names()[0]
	before, old := s.stat(name), s.e.Files[name]
	f := s.open(name)
	defer f.Close()
	replaced := append([]byte("replaced: "), old...)
	s.e.Replace(name, replaced)
	p := make([]byte, len(old))
	if n, err := vfs.ReadAt(s.Context(), f, p, 0); err != nil && err != io.EOF && !errors.Is(err, vfs.ErrChanged) ||
		err == nil && !bytes.Equal(p[:n], old) {
		s.Errorf("%s: open while it was replaced: %q, %v, expected the old bytes or vfs.ErrChanged", name, p[:n], err)
	}
	s.forget()
	if got := s.content(name); !bytes.Equal(got, replaced) {
		s.Errorf("%s: replaced, read %q", name, got)
	}
	if after := s.stat(name); vfs.VersionOf(after) == vfs.VersionOf(before) {
		s.Errorf("%s: replaced, and has the old version", name)
	}
	again := s.stat(name)
	s.same(name, again, s.stat(name))
	s.listedWhileChanged(path.Dir(name))
}

func (s tester) forget() {
	if s.e.Forget != nil {
		s.e.Forget()
	}
}

// listedWhileChanged lists an open directory one by one, and adds an entry after each. The entries that were there
// before are listed once.
func (s tester) listedWhileChanged(dir string) {
	s.Helper()
	want := s.directories()[dir]
	d, ok := s.open(dir).(fs.ReadDirFile)
	if !ok {
		s.Fatalf("%s: the open directory has no ReadDir", dir)
	}
	defer d.Close()
	seen := map[string]bool{}
	for i := 0; ; i++ {
		entries, err := d.ReadDir(1)
		if err == io.EOF {
			break
		}
		if err != nil || len(entries) != 1 || seen[entries[0].Name()] {
			s.Fatalf("%s: listed %v, %v, after %v", dir, entries, err, seen)
		}
		if seen[entries[0].Name()] = true; i < 3 {
			s.e.Replace(path.Join(dir, fmt.Sprint("added", i)), []byte("added"))
		}
	}
	for name := range want {
		if !seen[name] {
			s.Errorf("%s: %s was not listed while entries were added", dir, name)
		}
	}
	s.forget()
	for i := range 3 {
		if got := s.content(path.Join(dir, fmt.Sprint("added", i))); string(got) != "added" {
			s.Errorf("%s: file %d that was added: read %q", dir, i, got)
		}
	}
}
