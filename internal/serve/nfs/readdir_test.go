package nfs

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// listedEntry is an entry of a READDIR or READDIRPLUS.
type listedEntry struct {
	id     uint64
	name   string
	cookie uint64
	attr   *attr
	handle []byte
}

// list returns the entries of one READDIR or READDIRPLUS.
func (c *client) list(dir []byte, cookie uint64, limit uint32, plus bool) (s status, entries []listedEntry, eof bool) {
	c.t.Helper()
	procedure := uint32(procReadDir)
	if plus {
		procedure = procReadDirPlus
	}
	s, d := c.nfs(procedure, func(e *xdr.Encoder) {
		e.Opaque(dir)
		e.Uint64(cookie, 0)
		e.Uint32(limit)
		if plus {
			e.Uint32(limit)
		}
	})
	if s != statusOK {
		return s, nil, false
	}
	if size := len(d.Rest()) + 4; size > int(limit) {
		c.t.Errorf("a reply of %d bytes, expected at most %d", size, limit)
	}
	d.Uint32()
	readAttr(d)
	d.Uint64()
	for d.Uint32() != 0 {
		e := listedEntry{id: d.Uint64(), name: d.String(maxName), cookie: d.Uint64()}
		if plus {
			if d.Uint32() != 0 {
				a := readAttr(d)
				e.attr = &a
			}
			if d.Uint32() != 0 {
				e.handle = d.Opaque(maxHandle)
			}
		}
		entries = append(entries, e)
	}
	eof = d.Uint32() != 0
	if d.Err() != nil || len(d.Rest()) != 0 {
		c.t.Fatalf("%v, % x", d.Err(), d.Rest())
	}
	return s, entries, eof
}

// listAll lists a directory by as many calls as it takes.
func (c *client) listAll(dir []byte, limit uint32, plus bool) (all []listedEntry) {
	c.t.Helper()
	for cookie := uint64(0); ; {
		s, entries, eof := c.list(dir, cookie, limit, plus)
		if s != statusOK || len(entries) == 0 && !eof {
			c.t.Fatalf("after %d entries: status %d, %d entries", len(all), s, len(entries))
		}
		if all = append(all, entries...); eof {
			return all
		}
		cookie = all[len(all)-1].cookie
	}
}

func bigDirectory(n int) (fstest.MapFS, []string) {
	files, names := fstest.MapFS{"dir": {Mode: fs.ModeDir | 0o755}}, []string{".", ".."}
	for i := range n {
		name := fmt.Sprintf("%05d%s", i, strings.Repeat("n", i%40))
		files["dir/"+name] = &fstest.MapFile{Data: make([]byte, i%7), Mode: 0o444}
		names = append(names, name)
	}
	return files, names
}

// TestReadDir: every entry is listed once, whatever fits into a reply, with the attributes and the handle of a lookup.
func TestReadDir(t *testing.T) {
	for _, n := range []int{0, 1, 50, vfs.BatchSize, vfs.BatchSize + 1} {
		files, want := bigDirectory(n)
		c := connect(t, files)
		dir := c.find("dir")
		for _, limit := range []uint32{700, 1 << 20} {
			if limit < 1000 && n > 1000 {
				continue // a MapFS takes long to find a large directory
			}
			for _, plus := range []bool{false, true} {
				var got []string
				for i, e := range c.listAll(dir, limit, plus) {
					got = append(got, e.name)
					if e.cookie != uint64(i+1) {
						t.Fatalf("%s: cookie %d, expected %d", e.name, e.cookie, i+1)
					}
					if i%500 != 2 || !plus {
						continue
					}
					if s, h, a := c.lookup(dir, e.name); s != statusOK || string(h) != string(e.handle) ||
						e.attr == nil || *e.attr != a || a.id != e.id {
						t.Errorf("%s: got %+v, a lookup gives status %d, %+v", e.name, e, s, a)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%d entries in replies of %d bytes, plus %t: got %d", n, limit, plus, len(got))
				}
			}
		}
	}
}

// TestReadDirCookies: a listing goes on at any cookie, in any order, and also on another server.
func TestReadDirCookies(t *testing.T) {
	files, want := bigDirectory(300)
	c := connect(t, files)
	dir := c.find("dir")
	for _, cookie := range []int{301, 7, 7, 0, 1, 2, 3, 150, 299, 302, 400} {
		s, entries, eof := c.list(dir, uint64(cookie), 1024, false)
		rest := want[min(cookie, len(want)):]
		if s != statusOK || len(entries) == 0 && len(rest) > 0 || eof != (len(entries) == len(rest)) {
			t.Fatalf("from %d: status %d, %d entries, end %t", cookie, s, len(entries), eof)
		}
		for i, e := range entries {
			if e.name != rest[i] {
				t.Fatalf("from %d: got %s, expected %s", cookie, e.name, rest[i])
			}
		}
	}
	if s, _, _ := c.list(dir, 1<<50, 1024, false); s != statusBadCookie {
		t.Errorf("a cookie that is too large: status %d", s)
	}
	if s, _, _ := c.list(dir, 0, 100, true); s != statusTooSmall {
		t.Errorf("a reply that is too small: status %d", s)
	}
	if s, _, _ := c.list(c.find("dir/00000"), 0, 1024, false); s != statusNotDir {
		t.Errorf("a file: status %d", s)
	}
}

// countedFS counts how often a directory is listed.
type countedFS struct {
	fstest.MapFS
	listed *int
}

func (c countedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	*c.listed++
	return c.MapFS.ReadDir(name)
}

// TestLongListing: a directory that takes many calls is listed once. Listings that were not used for long are closed,
// and start again.
func TestLongListing(t *testing.T) {
	files, want := bigDirectory(400)
	listed := 0
	s := New(countedFS{files, &listed}, Options{})
	c := connectTo(t, s)
	dir := c.find("dir")
	if got := c.listAll(dir, 700, false); len(got) != len(want) || listed != 1 {
		t.Errorf("%d entries, listed %d times", len(got), listed)
	}
	for range 2 * maxListings {
		c.list(dir, 0, 700, false)
	}
	if len(s.listings.kept) != maxListings {
		t.Errorf("%d listings are kept, expected %d", len(s.listings.kept), maxListings)
	}
	s.listings.closeIdle(time.Now().Add(idleTime / 2))
	if len(s.listings.kept) != maxListings {
		t.Errorf("%d listings are kept after half of the time, expected %d", len(s.listings.kept), maxListings)
	}
	if s.listings.closeIdle(time.Now().Add(2 * idleTime)); len(s.listings.kept) != 0 {
		t.Errorf("%d listings are kept after the time", len(s.listings.kept))
	}
	if got := c.listAll(dir, 700, false); len(got) != len(want) {
		t.Errorf("%d entries", len(got))
	}
}
