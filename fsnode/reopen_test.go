//go:build linux

package fsnode

import (
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// thread sends the requests of one thread for the files a and b.
type thread struct {
	*session
	src *source
	id  uint32
}

func (th thread) header(node uint64) fuse.InHeader {
	return fuse.InHeader{NodeId: node, Caller: fuse.Caller{Pid: th.id}}
}

// find returns the node of a name.
func (th thread) find(name string) uint64 {
	th.t.Helper()
	in, out := th.header(fuse.FUSE_ROOT_ID), new(fuse.EntryOut)
	if status := th.nodes.Lookup(nil, &in, name, out); !status.Ok() {
		th.t.Fatal(status)
	}
	return out.NodeId
}

// open returns the content of the node. It is "stale" if the open returns ESTALE.
func (th thread) open(node uint64) string {
	th.t.Helper()
	var out fuse.OpenOut
	switch status := th.nodes.Open(nil, &fuse.OpenIn{InHeader: th.header(node)}, &out); status {
	case fuse.OK:
	case fuse.Status(syscall.ESTALE):
		return "stale"
	default:
		th.t.Fatal(status)
	}
	p, status := th.read(nil, node, out.Fh)
	if !status.Ok() {
		th.t.Error(status)
	}
	th.release(node, out.Fh)
	return string(p)
}

// replace gives a name other content.
func (th thread) replace(name, content string) {
	th.src.MapFS[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o640, ModTime: th.src.MapFS[name].ModTime.Add(1)}
}

// wantOpen fails the test if the number of open files is not n.
func (th thread) wantOpen(n int) {
	th.t.Helper()
	synctest.Wait()
	if th.src.open != n {
		th.t.Errorf("%d files are open, expected %d", th.src.open, n)
	}
}

// TestReopens: after ESTALE, the same thread opens the version that was found then, and no other thread does. A file
// that is not opened again is closed.
func TestReopens(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(first, other thread) // first got ESTALE for a, when that became "second". Then it became "third"
	}{
		{"opened again", func(first, _ thread) {
			first.wantOpen(1)
			if got := first.open(first.find("a")); got != "second" {
				t.Errorf("got %q, expected the second version", got)
			}
			if got := first.open(first.find("a")); got != "third" {
				t.Errorf("the next open: got %q, expected the third version", got)
			}
		}},
		{"looked up twice", func(first, _ thread) {
			first.find("a")
			if got := first.open(first.find("a")); got != "second" {
				t.Errorf("got %q, expected the second version", got)
			}
		}},
		{"by another thread", func(first, other thread) {
			if got := other.open(other.find("a")); got != "third" {
				t.Errorf("got %q, expected the third version", got)
			}
			if got := first.open(first.find("a")); got != "second" {
				t.Errorf("got %q, expected the second version", got)
			}
		}},
		{"the node of another thread", func(first, other thread) {
			node := other.find("a")
			if got := first.open(node); got != "third" {
				t.Errorf("got %q, expected the third version", got)
			}
			first.wantOpen(0)
		}},
		{"another file", func(first, _ thread) {
			if got := first.open(first.find("b")); got != "b" {
				t.Errorf("got %q, expected b", got)
			}
			first.wantOpen(0)
		}},
		{"stale once more", func(first, _ thread) {
			b := first.find("b")
			first.replace("b", "second")
			if got := first.open(b); got != "stale" {
				t.Errorf("got %q, expected ESTALE", got)
			}
			first.wantOpen(1)
			if got := first.open(first.find("b")); got != "second" {
				t.Errorf("got %q, expected the second version", got)
			}
		}},
		{"not opened again", func(first, _ thread) {
			time.Sleep(reopenTimeout)
			first.wantOpen(0)
			if got := first.open(first.find("a")); got != "third" {
				t.Errorf("got %q, expected the third version", got)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src := newSource("a", "b")
				first := thread{newSession(t, src, nil), src, 1}
				node := first.find("a")
				first.replace("a", "second")
				if got := first.open(node); got != "stale" {
					t.Fatalf("got %q, expected ESTALE", got)
				}
				first.replace("a", "third")
				other := first
				other.id = 2
				c.do(first, other)
				time.Sleep(reopenTimeout)
				first.wantOpen(0)
			})
		})
	}
}

// TestReopensOfUnknownThreads: threads outside of the PID namespace cannot be distinguished, so nothing is kept for
// them.
func TestReopensOfUnknownThreads(t *testing.T) {
	src := newSource("a")
	unknown := thread{newSession(t, src, nil), src, 0}
	node := unknown.find("a")
	unknown.replace("a", "second")
	if got := unknown.open(node); got != "stale" || src.open != 0 {
		t.Errorf("got %q, expected ESTALE; %d files are open", got, src.open)
	}
	if got := unknown.open(unknown.find("a")); got != "second" {
		t.Errorf("got %q, expected the second version", got)
	}
}
