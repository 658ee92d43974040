//go:build linux

package fsnode

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// list returns the entries of an open directory from an offset, as many as go into size bytes.
func (s *session) list(node, handle, off uint64, size int) ([]fuse.DirEntry, fuse.Status) {
	s.t.Helper()
	out := fuse.NewDirEntryList(make([]byte, size), off)
	status := s.nodes.ReadDir(nil, &fuse.ReadIn{InHeader: *header(node), Fh: handle, Offset: off, Size: uint32(size)},
		out)
	entries, err := fuse.ParseDirEntries(out.Bytes())
	if err != nil {
		s.t.Fatal(err)
	}
	return entries, status
}

// listPlus is list with the attributes of the entries.
func (s *session) listPlus(node, handle, off uint64, size int) ([]fuse.DirEntry, []fuse.EntryOut) {
	s.t.Helper()
	out := fuse.NewDirEntryList(make([]byte, size), off)
	in := &fuse.ReadIn{InHeader: *header(node), Fh: handle, Offset: off, Size: uint32(size)}
	if status := s.nodes.ReadDirPlus(nil, in, out); !status.Ok() {
		s.t.Fatalf("readdirplus: %v", status)
	}
	entries, attrs, err := fuse.ParseDirLookupEntries(out.Bytes())
	if err != nil {
		s.t.Fatal(err)
	}
	return entries, attrs
}

// listAll lists a directory from its start, a buffer of some bytes at a time.
func (s *session) listAll(name string, size int) (all []fuse.DirEntry) {
	s.t.Helper()
	node := s.find(name)
	handle, status := s.opendir(nil, node)
	if !status.Ok() {
		s.t.Fatalf("opendir of %s: %v", name, status)
	}
	defer s.nodes.ReleaseDir(&fuse.ReleaseIn{InHeader: *header(node), Fh: handle})
	for off := uint64(0); ; off = all[len(all)-1].Off {
		entries, status := s.list(node, handle, off, size)
		if !status.Ok() {
			s.t.Fatalf("readdir of %s at %d: %v", name, off, status)
		}
		if len(entries) == 0 {
			return all
		}
		all = append(all, entries...)
	}
}

func namesOf(entries []fuse.DirEntry) (names []string) {
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names
}

// TestListing: a directory lists ".", ".." and its entries in the order of the source, with the type and the
// inode number that a lookup finds. The offset of an entry is the number of entries up to it.
func TestListing(t *testing.T) {
	const dir, file = syscall.S_IFDIR, syscall.S_IFREG
	src := newSource("b", "a/c/f", "a/B", "a/é", "a/0")
	src.MapFS["a/empty"] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
	for _, c := range []struct {
		path, parent string
		want         []fuse.DirEntry // without "." and ".."
	}{
		{".", ".", []fuse.DirEntry{{Name: "a", Mode: dir}, {Name: "b", Mode: file}}},
		{"a", ".", []fuse.DirEntry{{Name: "0", Mode: file}, {Name: "B", Mode: file}, {Name: "c", Mode: dir},
			{Name: "empty", Mode: dir}, {Name: "é", Mode: file}}},
		{"a/c", "a", []fuse.DirEntry{{Name: "f", Mode: file}}},
		{"a/empty", "a", nil},
	} {
		t.Run(c.path, func(t *testing.T) {
			s := newSession(t, src, nil)
			want := []fuse.DirEntry{{Name: ".", Mode: dir, Ino: s.inode(c.path)},
				{Name: "..", Mode: dir, Ino: s.inode(c.parent)}}
			for _, e := range c.want {
				e.Ino = s.inode(strings.TrimPrefix(c.path+"/"+e.Name, "./"))
				want = append(want, e)
			}
			for i := range want {
				want[i].Off = uint64(i + 1)
			}
			if got := s.listAll(c.path, 4096); !slices.Equal(got, want) {
				t.Errorf("got %v, expected %v", got, want)
			}
		})
	}
}

// inode returns the inode number that Getattr returns for a path.
func (s *session) inode(name string) uint64 {
	s.t.Helper()
	attr, status := s.getattr(nil, s.find(name))
	if !status.Ok() {
		s.t.Fatalf("getattr of %s: %v", name, status)
	}
	return attr.Ino
}

// TestListingSeeks: a listing goes on after any entry that it has returned, in any order.
func TestListingSeeks(t *testing.T) {
	s := newSession(t, newSource("a", "b", "c", "d", "e"), nil)
	handle, _ := s.opendir(nil, fuse.FUSE_ROOT_ID)
	all := []string{".", "..", "a", "b", "c", "d", "e"}
	for _, off := range []uint64{0, 3, 1, 7, 2, 2, 6, 5, 0, 4} {
		other, _ := s.opendir(nil, fuse.FUSE_ROOT_ID) // has returned nothing yet
		for _, handle := range []uint64{handle, other} {
			entries, status := s.list(fuse.FUSE_ROOT_ID, handle, off, 4096)
			if got, want := namesOf(entries), all[off:]; !status.Ok() || !slices.Equal(got, want) {
				t.Errorf("from %d: got %v, %v, expected %v", off, got, status, want)
			}
		}
	}
	for _, off := range []uint64{8, 1 << 63} {
		if entries, status := s.list(fuse.FUSE_ROOT_ID, handle, off, 4096); status != fuse.EINVAL {
			t.Errorf("from %d: got %v, %v, expected EINVAL", off, namesOf(entries), status)
		}
	}
}

// TestListingOfMany: a big directory is listed in many buffers, without gaps or repetitions.
func TestListingOfMany(t *testing.T) {
	src, want := newSource(), []string{".", ".."}
	for i := range 10_000 {
		name := fmt.Sprintf("x%05d%s.raw", i, strings.Repeat("y", i%200)) // names of all lengths
		src.MapFS["dir/"+name] = &fstest.MapFile{}
		want = append(want, name)
	}
	for _, size := range []int{4096, 300, 1 << 20} {
		if got := namesOf(newSession(t, src, nil).listAll("dir", size)); !slices.Equal(got, want) {
			t.Errorf("buffers of %d bytes: got %d names, expected %d", size, len(got), len(want))
		}
	}
}

// TestListingStays: an open directory lists what it held when it was opened. Only a new listing shows what
// has changed, and the kernel keeps none.
func TestListingStays(t *testing.T) {
	src := newSource("a", "b", "c")
	s := newSession(t, src, nil)
	var out fuse.OpenOut
	if status := s.nodes.OpenDir(nil, &fuse.OpenIn{InHeader: *header(fuse.FUSE_ROOT_ID)}, &out); !status.Ok() ||
		out.OpenFlags != 0 {
		t.Fatalf("opendir: %v, flags %#x", status, out.OpenFlags)
	}
	delete(src.MapFS, "b")
	src.MapFS["d"] = &fstest.MapFile{}
	for range 2 {
		entries, _ := s.list(fuse.FUSE_ROOT_ID, out.Fh, 0, 4096)
		if got := namesOf(entries); !slices.Equal(got, []string{".", "..", "a", "b", "c"}) {
			t.Errorf("the open directory lists %v", got)
		}
	}
	if got := namesOf(s.listAll(".", 4096)); !slices.Equal(got, []string{".", "..", "a", "c", "d"}) {
		t.Errorf("a new listing has %v", got)
	}
}

// TestListingWithAttributes: each entry has the attributes that a lookup finds. An entry that has vanished,
// or became a directory, does not disturb the others.
func TestListingWithAttributes(t *testing.T) {
	src := newSource("a", "b", "c", "d")
	s := newSession(t, src, nil)
	handle, _ := s.opendir(nil, fuse.FUSE_ROOT_ID)
	delete(src.MapFS, "b")
	delete(src.MapFS, "c")
	src.MapFS["c/below"] = &fstest.MapFile{}
	entries, attrs := s.listPlus(fuse.FUSE_ROOT_ID, handle, 0, 4096)
	if got := namesOf(entries); !slices.Equal(got, []string{".", "..", "a", "b", "c", "d"}) {
		t.Fatalf("got %v", got)
	}
	for i, e := range entries {
		if e.Name == "." || e.Name == ".." || e.Name == "b" {
			if attrs[i].NodeId != 0 {
				t.Errorf("%s has attributes", e.Name)
			}
			continue
		}
		want := s.entry(e.Name)
		if attrs[i].Attr != want.Attr || attrs[i].NodeId != want.NodeId || attrs[i].Generation != want.Generation {
			t.Errorf("%s: got %+v, expected %+v", e.Name, attrs[i], want)
		}
		if e.Mode != want.Mode&syscall.S_IFMT || e.Ino != want.Ino {
			t.Errorf("%s: got %v, expected mode %o and inode %d", e.Name, e, want.Mode, want.Ino)
		}
	}
}
