//go:build linux

package fsnode

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

var (
	leastOnce, mostUnseen    = int(usual.once.least), int(usual.once.unseen)
	smallPieces, cachedOpens = int(usual.once.smallPieces), int(usual.once.opens)
)

// onceScene is a mount of 1,000 large files that are usually read once.
type onceScene struct {
	*session
	t *testing.T
}

func newOnceScene(t *testing.T, size int) *onceScene {
	src, data := newSource(), make([]byte, size)
	for i := range 1000 {
		src.MapFS[fmt.Sprint("f", i)] = &fstest.MapFile{Data: data}
	}
	src.file = func(f fs.File) fs.File { return readingOnce{pushing{f.(*sourceFile), new([]vfs.Sink)}, true} }
	s := newSession(t, src, nil)
	s.mount.mapsDirect.Store(true)
	return &onceScene{s, t}
}

// openFile opens file i, and checks whether it is read past the page cache. It returns a function that sends a request
// for a piece of it.
func (s *onceScene) openFile(i int, direct bool) (request func(off, n int)) {
	s.t.Helper()
	node := s.find(fmt.Sprint("f", i))
	var out fuse.OpenOut
	if status := s.nodes.Open(nil, &fuse.OpenIn{InHeader: *header(node)}, &out); !status.Ok() {
		s.t.Fatal(status)
	}
	if got := out.OpenFlags&fuse.FOPEN_DIRECT_IO != 0; got != direct {
		s.t.Fatalf("file %d is read past the page cache: %v, expected %v", i, got, direct)
	}
	return func(off, n int) {
		in := &fuse.ReadIn{InHeader: *header(node), Fh: out.Fh, Offset: uint64(off), Size: uint32(n)}
		if _, status := s.nodes.Read(nil, in, make([]byte, n)); !status.Ok() {
			s.t.Fatal(status)
		}
	}
}

// TestSmallPieces: after a reader of small pieces, the next 256 files are read through the page cache. This does not
// happen after readers of a header and of large pieces.
func TestSmallPieces(t *testing.T) {
	for _, piece := range []int{pageSize, leastOnce} {
		s := newOnceScene(t, mostUnseen)
		for i := range 3 {
			read := s.openFile(i, true)
			for at := 0; at < 10*100; at += 100 { // a header
				read(at, 100)
			}
			for range 100 { // memory that does not start with a page
				read(0, maxRequest)
				read(0, 100)
			}
		}
		read := s.openFile(3, true)
		for at := 0; at < mostUnseen; at += piece {
			read(at, piece)
		}
		for i := range cachedOpens {
			s.openFile(4+i, false)(0, piece)
		}
		s.openFile(4+cachedOpens, true)
	}
}

// TestFileReadAgain: after a file that was read past the page cache is opened again, the next 256 files are read
// through it.
func TestFileReadAgain(t *testing.T) {
	s := newOnceScene(t, mostUnseen)
	s.openFile(0, true)
	s.openFile(0, false)
	for i := range cachedOpens {
		s.openFile(1+i, false)
	}
	s.openFile(0, false) // it was read through the page cache already
	s.openFile(1+cachedOpens, true)
}

// TestLargeFileReadOnce: a large file is read past the page cache if the reader before used large pieces.
func TestLargeFileReadOnce(t *testing.T) {
	for _, c := range []struct {
		name   string
		off, n int // first request of the reader before, through the page cache
		direct bool
	}{
		{"large piece", 0, leastOnce, true},
		{"small piece", 0, leastOnce / 2, false},
		{"readahead", leastOnce, leastOnce, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newOnceScene(t, mostUnseen+1)
			s.openFile(0, false)(c.off, c.n)
			read := s.openFile(1, c.direct)
			if !c.direct {
				return
			}
			for range smallPieces {
				read(0, pageSize)
			}
			for i := range cachedOpens {
				s.openFile(2+i, false)
			}
			s.openFile(2+cachedOpens, false) // no reader has used large pieces since
		})
	}
}
