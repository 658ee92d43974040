package vfstest

import (
	"errors"
	"io/fs"
	"iter"
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// listing lists and describes a directory in all ways.
func (s tester) listing(dir string) {
	s.Helper()
	want := s.directories()[dir]
	for what, batches := range map[string]iter.Seq2[[]fs.DirEntry, error]{"List": vfs.List(s.fsys, dir),
		"ListDir": vfs.ListDir(s.fsys, dir)} {
		seen := map[string]bool{}
		for batch, err := range batches {
			s.batch(what+" "+dir, names(batch), err, seen)
		}
		s.complete(what+" "+dir, seen, want)
	}
	seen := map[string]bool{}
	for batch, err := range vfs.Describe(s.fsys, dir, everyName) {
		s.batch("Describe "+dir, names(batch), err, seen)
		for _, d := range batch {
			s.described(path.Join(dir, d.Name()), d)
		}
	}
	s.complete("Describe "+dir, seen, want)
	for range vfs.Describe(s.fsys, dir, everyName) {
		break // ends the listing
	}
	for batch := range vfs.Describe(s.fsys, dir, func(string) bool { return false }) {
		if len(batch) > 0 {
			s.Errorf("Describe %s: described what is not wanted: %v", dir, batch)
		}
	}
}

func names[E interface{ Name() string }](entries []E) (all []string) {
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// batch checks a batch of a listing, and adds it to what was seen.
func (s tester) batch(what string, batch []string, err error, seen map[string]bool) {
	s.Helper()
	if err != nil || len(batch) > vfs.BatchSize {
		s.Errorf("%s: %d entries, %v", what, len(batch), err)
	}
	for i, name := range batch {
		if seen[name] || i > 0 && name <= batch[i-1] {
			s.Errorf("%s: %s is not in its place", what, name)
		}
		seen[name] = true
	}
}

// complete checks that a listing has all names that are wanted, and no other.
func (s tester) complete(what string, seen, want map[string]bool) {
	s.Helper()
	for name := range want {
		if !seen[name] {
			s.Errorf("%s lacks %s", what, name)
		}
	}
	if !s.e.Some && len(seen) != len(want) {
		s.Errorf("%s: got %v, expected %v", what, seen, want)
	}
}

// described checks that a description in a listing is that of Stat.
func (s tester) described(name string, d vfs.Described) {
	s.Helper()
	if d.Err != nil {
		s.Errorf("%s: %v", name, d.Err)
		return
	}
	s.same(name, d.Info, s.stat(name))
}

// same checks that two descriptions of a file are the same.
func (s tester) same(name string, a, b fs.FileInfo) {
	s.Helper()
	if a.Name() != b.Name() || a.Mode() != b.Mode() || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) ||
		vfs.StoredOf(a) != vfs.StoredOf(b) ||
		vfs.DetailsOf(a).Live != vfs.DetailsOf(b).Live || !a.IsDir() && vfs.VersionOf(a) != vfs.VersionOf(b) {
		s.Errorf("%s: described as %v with version %x, and as %v with %x", name, a, vfs.VersionOf(a), b,
			vfs.VersionOf(b))
	}
}

// ways are all ways to ask for a path.
func (s tester) ways() map[string]func(name string) error {
	list := func(batches iter.Seq2[[]fs.DirEntry, error]) (last error) {
		for _, err := range batches {
			last = err
		}
		return last
	}
	return map[string]func(name string) error{
		"open": func(name string) error {
			f, err := s.fsys.Open(name)
			if err == nil {
				f.Close()
			}
			return err
		},
		"stat":  func(name string) error { _, err := fs.Stat(s.fsys, name); return err },
		"lstat": func(name string) error { _, err := fs.Lstat(s.fsys, name); return err },
		"readdir": func(name string) error {
			if _, ok := s.fsys.(fs.ReadDirFS); !ok {
				return list(vfs.List(s.fsys, name))
			}
			_, err := fs.ReadDir(s.fsys, name)
			return err
		},
		"list":    func(name string) error { return list(vfs.List(s.fsys, name)) },
		"listdir": func(name string) error { return list(vfs.ListDir(s.fsys, name)) },
		"describe": func(name string) (last error) {
			for _, err := range vfs.Describe(s.fsys, name, everyName) {
				last = err
			}
			return last
		},
	}
}

// errors checks the classes of errors.
func (s tester) errors() {
	s.Helper()
	file := s.names()[0]
	for way, ask := range s.ways() {
		s.class(way, "nothing", ask("nothing"), vfs.NotExist)
		s.class(way, "nothing/below", ask("nothing/below"), vfs.NotExist)
		s.class(way, file+"/below", ask(file+"/below"), vfs.NotExist, vfs.NotDirectory)
		s.class(way, "a long name", ask(strings.Repeat("x", 300)), vfs.NotExist, vfs.NameTooLong)
		for _, name := range []string{"", "/", "/" + file, "../" + file, file + "/", "./" + file, "x//y", ".."} {
			s.class(way, name, ask(name), vfs.Invalid)
		}
		if way == "open" || strings.HasSuffix(way, "stat") {
			continue
		}
		var kind *vfs.KindError
		if err := ask(file); err == nil || !errors.As(err, &kind) && vfs.Classify(err) != vfs.NotDirectory &&
			!vfs.CannotList(err) {
			s.Errorf("%s of file %s: got %v, expected that it is no directory", way, file, err)
		}
	}
}

// class checks the class of an error.
func (s tester) class(way, name string, err error, want ...vfs.Class) {
	s.Helper()
	if err == nil {
		s.Errorf("%s %q: expected an error", way, name)
		return
	}
	for _, c := range want {
		if vfs.Classify(err) == c {
			return
		}
	}
	s.Errorf("%s %q: got %v, of class %d, expected class %d", way, name, err, vfs.Classify(err), want)
}
