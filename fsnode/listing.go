//go:build linux

package fsnode

import (
	"context"
	"io/fs"
	"iter"
	"path"
	"sync"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// listing is an open directory: ".", ".." and the entries. The entry at index i has the offset i+1, because
// offsets point to the next entry.
//
// A listing holds a batch of up to [vfs.BatchSize] entries. A directory of fewer entries is listed once,
// when it is opened. If the kernel goes back to before the batch of a larger directory, the source lists it
// again.
type listing struct {
	dir         *node
	next        int             // index of the entry that Readdirent returns next
	interrupted context.Context // the last request with an interrupted lookup

	batch []fs.DirEntry
	start int     // index of the first entry of the batch; at least 2, for "." and ".."
	rest  *stream // of the entries after the batch; nil if it has to start again
	ended bool    // there are none
}

var (
	_ gofs.FileReaddirenter = (*listing)(nil)
	_ gofs.FileSeekdirer    = (*listing)(nil)
	_ gofs.FileLookuper     = (*listing)(nil)
	_ gofs.FileReleasedirer = (*listing)(nil)
)

// end returns the index after the batch.
func (l *listing) end() int { return l.start + len(l.batch) }

// Readdirent returns the next entry, or nil at the end.
func (l *listing) Readdirent(ctx context.Context) (_ *fuse.DirEntry, number syscall.Errno) {
	defer l.dir.log.boundary("readdir", l.dir.path, &number)
	i := l.next
	if i >= 2 {
		if err := l.show(ctx, i); err != nil {
			return nil, l.dir.log.errno("readdir", l.dir.path, err)
		}
		if i >= l.end() {
			return nil, 0
		}
	}
	l.next++
	d := &fuse.DirEntry{Mode: syscall.S_IFDIR, Off: uint64(l.next)}
	switch i {
	case 0:
		d.Name, d.Ino = ".", inode(l.dir.path)
	case 1:
		d.Name, d.Ino = "..", inode(path.Dir(l.dir.path))
	default:
		e := l.batch[i-l.start]
		d.Name, d.Ino = e.Name(), inode(path.Join(l.dir.path, e.Name()))
		if !e.IsDir() {
			d.Mode = syscall.S_IFREG
		}
	}
	return d, 0
}

// show moves the batch to the entry at an index, or to the last entries.
func (l *listing) show(ctx context.Context, i int) error {
	if i < l.start {
		l.restart()
	}
	for i >= l.end() && !l.ended {
		if err := l.advance(ctx); err != nil {
			return err
		}
	}
	return nil
}

// restart moves the batch to before the first entry.
func (l *listing) restart() {
	l.close()
	l.batch, l.start, l.ended = nil, 2, false
}

// advance moves the batch to the next entries. After an error, the listing has to start again.
func (l *listing) advance(ctx context.Context) error {
	if l.rest == nil {
		l.restart()
		l.rest = newStream(l.dir.fsys, l.dir.path)
	}
	entries, err := callSource(ctx, l.dir.calls, l.rest.read, noDiscard)
	if err != nil {
		l.restart()
		return err
	}
	l.start, l.batch = l.end(), entries
	if l.ended = len(entries) < l.dir.limits.batch; l.ended {
		l.close()
	}
	if !l.dir.calls.atOnce() {
		l.dir.startStatAhead(entries)
	}
	return nil
}

// close ends the listing of the source.
func (l *listing) close() {
	if l.rest != nil {
		l.rest.close()
		l.rest = nil
	}
}

// Releasedir ends the listing.
func (l *listing) Releasedir(context.Context, uint32) {
	var number syscall.Errno // nobody gets it
	defer l.dir.log.boundary("closedir", l.dir.path, &number)
	l.close()
}

// maxEntries bounds the offsets in a directory.
const maxEntries = 1 << 40

// Seekdir continues at an offset that Readdirent returned.
func (l *listing) Seekdir(_ context.Context, off uint64) syscall.Errno {
	if off > maxEntries || l.ended && int(off) > l.end() {
		return syscall.EINVAL
	}
	l.next = int(off)
	return 0
}

// stream lists a directory of the source, one batch after the other. A call of read may be abandoned.
type stream struct {
	mu   sync.Mutex // held while the source lists
	next func() ([]fs.DirEntry, error, bool)
	stop func()
}

func newStream(fsys fs.FS, dir string) *stream {
	next, stop := iter.Pull2(guard.Seq("fsnode.source", vfs.List(fsys, dir)))
	return &stream{next: next, stop: stop}
}

// read returns the next entries, less than [vfs.BatchSize] at the end.
func (s *stream) read() ([]fs.DirEntry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err, _ := s.next()
	return entries, err
}

// close closes the directory of the source. If a call of read was abandoned, that happens when the source
// has answered.
func (s *stream) close() {
	if s.mu.TryLock() {
		defer s.mu.Unlock()
		s.stop()
		return
	}
	go guard.Func("fsnode.listing", func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		defer s.stop()
		guard.Pass("fsnode.listing")
	})()
}

// Lookup finds an entry for a listing with attributes. One request looks up many entries. After the first
// interrupted lookup, the other lookups of the request fail at once, so that the request waits for one grace
// period only.
func (l *listing) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if ctx == l.interrupted {
		return nil, syscall.EINTR
	}
	child, number := l.dir.Lookup(ctx, name, out)
	if number == syscall.EINTR {
		l.interrupted = ctx
	}
	return child, number
}
