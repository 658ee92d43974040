package nfs

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
)

// closedTree has a directory d with some permissions, and pairs of paths below it. The first of each pair exists, the
// second does not.
func closedTree(perm fs.FileMode) (files fstest.MapFS, pairs [][2]string) {
	own := &syscall.Stat_t{Uid: 1000, Gid: 50}
	long := strings.Repeat("n", 200)              // a hash in a handle
	deep := "/" + strings.Repeat("12345678/", 20) // of short names: the whole path is one hash
	files = fstest.MapFS{
		"d":              {Mode: fs.ModeDir | perm, Sys: own},
		"d/s":            {Mode: fs.ModeDir | 0o755, Sys: own},
		"d/" + long:      {Mode: fs.ModeDir | 0o755, Sys: own},
		"d/x":            {Mode: 0o444, Sys: own, Data: []byte("x")},
		"d/s/f":          {Mode: 0o444, Sys: own, Data: []byte("f")},
		"d" + deep + "f": {Mode: 0o444, Sys: own, Data: []byte("deep")},
	}
	for _, name := range []string{"f", long} {
		files["d/"+long+"/"+name] = &fstest.MapFile{Mode: 0o444, Sys: own, Data: []byte("long")}
	}
	return files, [][2]string{
		{"d/x", "d/q"}, {"d/s", "d/t"}, {"d/s/f", "d/t/f"}, {"d/s/f", "d/x/f"}, {"d/s/f", "d/s/g"},
		{"d/" + long, "d/" + long[1:]}, {"d/" + long + "/f", "d/" + long[1:] + "/f"},
		{"d/" + long + "/" + long, "d/" + long + "/" + long[1:]}, {"d" + deep + "f", "d" + deep + "g"},
		{"d" + deep[:len(deep)-1], "d" + deep + "h"},
	}
}

// spy is a file system that records which paths are opened.
type spy struct {
	fs.FS
	mu   sync.Mutex
	seen []string
}

func (s *spy) Open(name string) (fs.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, name)
	return s.FS.Open(name)
}

// take returns the paths that were opened since the last call.
func (s *spy) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}

// madeUp returns a handle that no server gave out, with the right version if there is such an entry.
func madeUp(files fs.FS, name string, dir bool) []byte {
	h := handle{path: name, dir: dir}
	if info, err := fs.Stat(files, name); err == nil && info.IsDir() == dir {
		h = handleOf(name, info)
	}
	return newHandles(files).encode(h)
}

// calls are all calls with a handle, and those of MOUNT with a path.
var calls = map[string]func(c *client, h []byte, name string) (status, *xdr.Decoder){
	"GETATTR":      func(c *client, h []byte, _ string) (status, *xdr.Decoder) { return c.nfs(1, opaque(h)) },
	"SETATTR":      func(c *client, h []byte, _ string) (status, *xdr.Decoder) { return c.nfs(2, opaque(h)) },
	"LOOKUP":       func(c *client, h []byte, _ string) (status, *xdr.Decoder) { return c.nfs(3, opaque(h, "f")) },
	"LOOKUP of .":  func(c *client, h []byte, _ string) (status, *xdr.Decoder) { return c.nfs(3, opaque(h, ".")) },
	"LOOKUP of ..": func(c *client, h []byte, _ string) (status, *xdr.Decoder) { return c.nfs(3, opaque(h, "..")) },
	"ACCESS": func(c *client, h []byte, _ string) (status, *xdr.Decoder) {
		return c.nfs(4, func(e *xdr.Encoder) { e.Opaque(h); e.Uint32(0x3f) })
	},
	"READLINK": func(c *client, h []byte, _ string) (status, *xdr.Decoder) { return c.nfs(5, opaque(h)) },
	"READ": func(c *client, h []byte, _ string) (status,
		*xdr.Decoder) {
		return c.nfs(procRead, readArgs(h, 0, 10))
	},
	"READDIR": func(c *client, h []byte, _ string) (status, *xdr.Decoder) {
		return c.nfs(procReadDir, func(e *xdr.Encoder) { e.Opaque(h); e.Uint64(0, 0); e.Uint32(4096) })
	},
	"READDIRPLUS": func(c *client, h []byte, _ string) (status, *xdr.Decoder) {
		return c.nfs(procReadDirPlus, func(e *xdr.Encoder) { e.Opaque(h); e.Uint64(0, 0); e.Uint32(4096, 4096) })
	},
	"FSSTAT":   func(c *client, h []byte, _ string) (status, *xdr.Decoder) { return c.nfs(18, opaque(h)) },
	"FSINFO":   func(c *client, h []byte, _ string) (status, *xdr.Decoder) { return c.nfs(19, opaque(h)) },
	"PATHCONF": func(c *client, h []byte, _ string) (status, *xdr.Decoder) { return c.nfs(20, opaque(h)) },
	"MNT": func(c *client, _ []byte, name string) (status, *xdr.Decoder) {
		s, h := c.mount(name)
		return s, xdr.NewDecoder(h)
	},
}

func opaque(h []byte, names ...string) func(*xdr.Encoder) {
	return func(e *xdr.Encoder) {
		e.Opaque(h)
		for _, name := range names {
			e.String(name)
		}
	}
}

// TestClosedDirectory: if a caller may not search a directory, no call tells whether there is an entry below it, and
// none looks. All permissions of the directory, users, calls, and handles of files and directories are tried, with and
// without a server that remembers the paths of handles.
func TestClosedDirectory(t *testing.T) {
	for bits := range fs.FileMode(8) {
		if testing.Short() && bits > maySearch {
			continue // the goroutines are the same
		}
		for _, from := range []struct {
			who  claim
			perm fs.FileMode // of the directory
			may  fs.FileMode
		}{
			{claim{uid: 1001, gid: 1}, 0o770 | bits, bits},
			{claim{uid: 1001, gid: 50}, 0o707 | bits<<3, bits},
			{claim{uid: 1000, gid: 1}, 0o077 | bits<<6, bits},
			{claim{}, 0o770 | bits, bits}, // root of another machine
		} {
			for _, remembers := range []bool{false, true} {
				checkClosed(t, from.who, from.perm, from.may, remembers)
			}
		}
	}
}

func checkClosed(t *testing.T, who claim, perm, may fs.FileMode, remembers bool) {
	t.Helper()
	files, pairs := closedTree(perm)
	fsys := &spy{FS: files}
	s := New(fsys, Options{FSID: 7})
	c := connectTo(t, s)
	c.claim = who
	for _, pair := range pairs {
		if remembers { // the server gave handles of what exists to its owner
			s.handles.encode(handle{path: pair[0]})
			s.handles.encode(handle{path: pair[0], dir: true})
		}
	}
	for call, run := range calls {
		for _, pair := range pairs {
			for _, dir := range []bool{false, true} {
				var got [2]string
				for i, name := range pair {
					s, results := run(c, madeUp(files, name, dir), name)
					got[i] = fmt.Sprintf("status %d, % x", s, results.Rest())
				}
				seen := slices.DeleteFunc(fsys.take(), func(name string) bool { return !strings.HasPrefix(name, "d/") })
				if may&maySearch == 0 && (got[0] != got[1] || len(seen) > 0) {
					t.Errorf(
						"%v, %+v: %s of %.20s, as a directory: %t: got %s; of %.20s, which does not exist: %s; %q were looked at", perm, who, call, pair[0], dir, got[0], pair[1], got[1], seen)
				}
			}
		}
	}
	checkOpen(t, s, c, files, pairs, may)
}

// checkOpen checks what callers can do below a directory that they may search, and list.
func checkOpen(t *testing.T, s *Server, c *client, files fs.FS, pairs [][2]string, may fs.FileMode) {
	t.Helper()
	for _, pair := range pairs {
		info, err := fs.Stat(files, pair[0])
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range [][]byte{s.handles.encode(handleOf(pair[0], info)), madeUp(files, pair[1], info.IsDir())} {
			if s, _ := c.nfs(1, opaque(h)); (s == statusOK) != (i == 0 && may&maySearch != 0) {
				t.Errorf("permissions %o, GETATTR of %.20s: status %d", may, pair[i], s)
			}
		}
	}
	for _, plus := range []bool{false, true} {
		s, entries, _ := c.list(madeUp(files, "d", true), 0, 4096, plus)
		if (s == statusOK) != (may&mayRead != 0) || s == statusOK && len(entries) < 5 {
			t.Errorf("permissions %o: listing: status %d, %d entries", may, s, len(entries))
		}
		for _, e := range entries {
			if want := plus && may&maySearch != 0; (e.attr != nil) != want || (e.handle != nil) != want {
				t.Errorf("permissions %o, %s: attributes %v, handle % x", may, e.name, e.attr, e.handle)
			}
		}
	}
}
