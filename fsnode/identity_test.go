//go:build linux

package fsnode

import (
	"io/fs"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestIdentity: the inode number of an entry depends on its path alone, and the generation on its version.
func TestIdentity(t *testing.T) {
	src := newSource("a/f", "b/f", "g")
	s := newSession(t, src, nil)
	if root := s.inode("."); root != rootIno {
		t.Errorf("the root has inode %d, expected %d", root, rootIno)
	}
	paths := []string{"a", "b", "a/f", "b/f", "g"}
	pathOf := map[uint64]string{rootIno: "."}
	first := map[string]fuse.EntryOut{}
	for _, p := range paths {
		e := s.entry(p)
		if other, ok := pathOf[e.Ino]; ok {
			t.Errorf("%s has inode %d, as %s has", p, e.Ino, other)
		}
		pathOf[e.Ino], first[p] = p, e
	}
	src.describe["g"] = func(i fs.FileInfo) fs.FileInfo { return versioned{i, vfs.Version{1}} }
	src.MapFS["a/f"].ModTime = modTime.Add(time.Nanosecond)
	src.MapFS["a"] = &fstest.MapFile{Mode: fs.ModeDir, ModTime: modTime}
	for name, s := range map[string]*session{"the same mount": s, "another mount": newSession(t, src, nil)} {
		for _, p := range paths {
			e, changed := s.entry(p), p == "a/f" || p == "g"
			if e.Ino != first[p].Ino {
				t.Errorf("%s: %s has inode %d, and had %d", name, p, e.Ino, first[p].Ino)
			}
			if (e.Generation != first[p].Generation) != changed {
				t.Errorf("%s: %s has generation %d, and had %d", name, p, e.Generation, first[p].Generation)
			}
		}
		if e := s.entry("a"); e.Generation != 1 {
			t.Errorf("%s: a directory has generation %d, expected 1", name, e.Generation)
		}
		if got, want := s.entry("g").Generation, (vfs.Version{1}).Uint64(); got != want {
			t.Errorf("%s: generation %d, expected that of the version, %d", name, got, want)
		}
	}
}

// TestInodeNumbers holds the numbers: programs such as rsync and tar remember them.
func TestInodeNumbers(t *testing.T) {
	for path, want := range map[string]uint64{".": 1, "color": 0x4b0b07717083d94f,
		"color/1/volume.raw": 0x9cc88c0c2b27d003} {
		if got := inode(path); got != want {
			t.Errorf("%s: got %#x, expected %#x", path, got, want)
		}
	}
}

// TestChangedFile: a node stays the version that it is. Its attributes change only while its version is the
// same.
func TestChangedFile(t *testing.T) {
	size := func(t *testing.T, s *session, node uint64) uint64 {
		t.Helper()
		attr, status := s.getattr(nil, node)
		if !status.Ok() {
			t.Fatal(status)
		}
		return attr.Size
	}
	longer := func(src *source) { src.MapFS["f"] = &fstest.MapFile{Data: []byte("longer"), ModTime: modTime} }
	for _, c := range []struct {
		name   string
		change func(*source)
		want   uint64
	}{
		{"another version", longer, 1},
		{"removed", func(src *source) { delete(src.MapFS, "f") }, 1},
		{"unreadable", func(src *source) { src.fails, src.err = "stat", syscall.EIO }, 1},
		{"the same version", func(src *source) {
			longer(src)
			src.describe["f"] = func(i fs.FileInfo) fs.FileInfo {
				return versioned{i, vfs.VersionOf(mustStat(newSource("f").MapFS, "f"))}
			}
		}, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := newSource("f")
			s := newSession(t, src, nil)
			node := s.find("f")
			c.change(src)
			if got := size(t, s, node); got != c.want {
				t.Errorf("%d bytes, expected %d", got, c.want)
			}
		})
	}
}

func mustStat(fsys fs.FS, name string) fs.FileInfo {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		panic(err)
	}
	return info
}
