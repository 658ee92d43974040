//go:build linux

package fsnode

import (
	"io/fs"
	"strconv"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// again returns the answer to the lookup of a node by its number.
func (s *session) again(node uint64) (out fuse.EntryOut, status fuse.Status) {
	status = s.nodes.Lookup(nil, header(node), ".", &out)
	return out, status
}

// TestForgottenNodes: a node that the kernel has forgotten is found by its number. The answer is that to its first
// lookup, and so are the inode numbers in attributes and listings.
func TestForgottenNodes(t *testing.T) {
	for _, name := range []string{"f", "a", "a/b", "a/b/f"} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, newSource("f", "a/b/f"), nil)
			first := s.entry(name)
			s.nodes.Forget(first.NodeId, 1)
			for _, known := range []bool{false, true} {
				got, status := s.again(first.NodeId)
				if !status.Ok() || got != first {
					t.Errorf("known: %v: %+v, status %v, expected %+v", known, got, status, first)
				}
			}
			if attr, status := s.getattr(nil, first.NodeId); !status.Ok() || attr != first.Attr ||
				attr.Ino != inode(name) {
				t.Errorf("attributes %+v, status %v, expected %+v with inode %d", attr, status, first.Attr, inode(name))
			}
			if first.Mode&syscall.S_IFMT == syscall.S_IFREG {
				handle, status := s.open(nil, first.NodeId)
				if !status.Ok() {
					t.Fatal(status)
				}
				if p, status := s.read(nil, first.NodeId, handle); !status.Ok() || string(p) != name {
					t.Errorf("read %q, status %v, expected %q", p, status, name)
				}
			}
		})
	}
}

// TestForgottenParents: the directory of a node is found, whether the kernel knows it or not.
func TestForgottenParents(t *testing.T) {
	for name, parent := range map[string]string{"f": ".", "a": ".", "a/b": "a", "a/b/f": "a/b"} {
		for _, forgotten := range []bool{false, true} {
			s := newSession(t, newSource("f", "a/b/f"), nil)
			child, want := s.entry(name), s.entry(parent)
			if forgotten {
				s.nodes.Forget(child.NodeId, 1)
				if _, status := s.again(child.NodeId); !status.Ok() {
					t.Fatal(status)
				}
				if parent != "." {
					s.nodes.Forget(want.NodeId, 1)
				}
			}
			var got fuse.EntryOut
			status := s.nodes.Lookup(nil, header(child.NodeId), "..", &got)
			if !status.Ok() || got.NodeId != want.NodeId || got.Ino != inode(parent) ||
				got.Mode != syscall.S_IFDIR|0o555 {
				t.Errorf("%s, forgotten: %v: directory %+v, status %v, expected node %d", name, forgotten, got, status,
					want.NodeId)
			}
			if status := s.lookup(nil, got.NodeId, "f"); status.Ok() != (name == "f" || name == "a" ||
				name == "a/b/f") {
				t.Errorf("%s, forgotten: %v: lookup of f in its directory: %v", name, forgotten, status)
			}
		}
	}
}

// TestForgottenErrors: what is not the same file any more is not found.
func TestForgottenErrors(t *testing.T) {
	for _, c := range []struct {
		name, entry string
		change      func(*source)
		want        syscall.Errno
	}{
		{"another version", "a/f", func(src *source) { src.MapFS["a/f"] = &fstest.MapFile{Data: []byte("new")} },
			syscall.ESTALE},
		{"removed", "a/f", func(src *source) { delete(src.MapFS, "a/f") }, syscall.ENOENT},
		{"a file that is a directory", "a/f",
			func(src *source) { src.MapFS["a/f"] = &fstest.MapFile{Mode: fs.ModeDir} }, syscall.ESTALE},
		{"a directory that is a file", "a", func(src *source) {
			delete(src.MapFS, "a/f")
			src.MapFS["a"] = &fstest.MapFile{Data: []byte("new")}
		}, syscall.ESTALE},
		{"fault", "a/f", func(src *source) { src.fails, src.err = "stat", syscall.EIO }, syscall.EIO},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := newSource("a/f")
			s := newSession(t, src, nil)
			node := s.find(c.entry)
			s.nodes.Forget(node, 1)
			c.change(src)
			if _, status := s.again(node); status != fuse.Status(c.want) {
				t.Errorf("got %v, expected %v", status, c.want)
			}
		})
	}
	if _, status := newSession(t, newSource("f"), nil).again(12345); status != fuse.Status(syscall.ESTALE) {
		t.Errorf("a node that never was: %v, expected ESTALE", status)
	}
}

// TestNodePathsAreBounded: paths take a bounded memory, and the oldest are dropped first.
func TestNodePathsAreBounded(t *testing.T) {
	var p nodePaths
	const n = nodePathsBudget / nodePathOverhead
	for i := range uint64(n) {
		p.remember(i, strconv.FormatUint(i, 10))
	}
	if p.paths.Cost() > nodePathsBudget {
		t.Errorf("cost %d, expected at most %d", p.paths.Cost(), nodePathsBudget)
	}
	if _, ok := p.of(0); ok {
		t.Error("the oldest path is remembered")
	}
	if got, ok := p.of(n - 1); !ok || got != strconv.Itoa(n-1) {
		t.Errorf("the newest path is %q, %v", got, ok)
	}
}
