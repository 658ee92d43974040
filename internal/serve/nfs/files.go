package nfs

import (
	"io/fs"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

const (
	// idleTime is how long a file or a listing stays open after its last use.
	idleTime = 30 * time.Second
	// maxFiles bounds the open files. If all are being read, there may be more.
	maxFiles = 256
	// maxReaders bounds how often one version of a file is open.
	maxReaders = 8
	// nearby is how far a READ may be from the end of the READs before it, for the same reader, in bytes: clients have
	// many READs in flight, and they arrive in any order.
	nearby = 16 << 20
)

// files keeps files open between READs.
//
// NFS does not say which READs belong to one program. READs at about the same place belong to one reader. Each reader
// has an open file of its own, because an open file reads ahead for one reader.
type files struct {
	fsys fs.FS

	mu    sync.Mutex
	open  map[handle][]*reader
	count int
}

// reader is an open file.
type reader struct {
	handle handle
	opened chan struct{} // closed when file, info and err are set
	file   fs.File
	info   fs.FileInfo
	err    error

	// With the lock of files:
	end   int64 // of the last READ
	users int   // READs in progress
	used  time.Time
}

func newFiles(fsys fs.FS) *files { return &files{fsys: fsys, open: map[handle][]*reader{}} }

// acquire returns the reader for a READ of n bytes, opened if need be. The caller must release it. The error is
// statusStale if the file has another version now.
func (f *files) acquire(h handle, off int64, n int) (*reader, error) {
	r, isNew := f.use(h, off, n)
	if isNew {
		r.start(f.fsys)
	}
	<-r.opened
	if r.err != nil {
		f.remove(r)
		f.release(r)
		return nil, r.err
	}
	return r, nil
}

// use adds a READ of n bytes to the reader for it. If isNew, the caller has to start the reader.
func (f *files) use(h handle, off int64, n int) (r *reader, isNew bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, isNew = f.choose(h, off)
	r.users++
	r.end = max(r.end-nearby, off+int64(n)) // late READs of a reader that goes on do not move it back far
	r.used = time.Now()
	return r, isNew
}

// choose returns the reader that is nearest to an offset, or a new one if none is nearby. The caller has the lock.
func (f *files) choose(h handle, off int64) (r *reader, isNew bool) {
	var best, oldest *reader
	for _, r := range f.open[h] {
		if d := distance(r.end, off); d <= nearby && (best == nil || d < distance(best.end, off)) {
			best = r
		}
		if oldest == nil || r.used.Before(oldest.used) {
			oldest = r
		}
	}
	switch {
	case best != nil:
		return best, false
	case len(f.open[h]) >= maxReaders:
		oldest.end = off
		return oldest, false
	}
	f.makeRoom()
	r = &reader{handle: h, opened: make(chan struct{}), end: off}
	f.open[h] = append(f.open[h], r)
	f.count++
	return r, true
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// start opens the file. A panic is the error of all READs that wait for it.
func (r *reader) start(fsys fs.FS) {
	defer close(r.opened)
	r.err = guard.Do("nfs.open", func() error {
		guard.Pass("nfs.open")
		file, info, err := vfs.OpenRegular(fsys, r.handle.path)
		switch {
		case err != nil:
			return ofHandle(err)
		case !r.handle.is(info):
			file.Close() // read-only: nothing can be lost
			return statusStale
		}
		r.file, r.info = file, info
		return nil
	})
}

// release ends a READ.
func (f *files) release(r *reader) {
	if f.leave(r) {
		r.close()
	}
}

// leave removes a READ from a reader. It returns true if nothing can use the reader any more.
func (f *files) leave(r *reader) (last bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.users--
	r.used = time.Now()
	return r.users == 0 && !f.has(r)
}

// has reports whether the reader can still be chosen. The caller has the lock.
func (f *files) has(r *reader) bool {
	for _, other := range f.open[r.handle] {
		if other == r {
			return true
		}
	}
	return false
}

// remove prevents that the reader is chosen again.
func (f *files) remove(r *reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(r)
}

// drop is remove for a caller that has the lock.
func (f *files) drop(r *reader) {
	rest := f.open[r.handle]
	for i, other := range rest {
		if other != r {
			continue
		}
		f.count--
		if rest = append(rest[:i:i], rest[i+1:]...); len(rest) == 0 {
			delete(f.open, r.handle)
		} else {
			f.open[r.handle] = rest
		}
		return
	}
}

// makeRoom closes the file that was not used for longest, if there are too many. The caller has the lock.
func (f *files) makeRoom() {
	if f.count < maxFiles {
		return
	}
	var oldest *reader
	for _, readers := range f.open {
		for _, r := range readers {
			if r.users == 0 && (oldest == nil || r.used.Before(oldest.used)) {
				oldest = r
			}
		}
	}
	if oldest != nil {
		f.drop(oldest)
		go guard.Func("nfs.close", func() {
			defer oldest.close()
			guard.Pass("nfs.close")
		})()
	}
}

// closeIdle closes the files that were not used for idleTime.
func (f *files) closeIdle(now time.Time) { f.closeUnused(now.Add(-idleTime)) }

// close closes all files that are not being read.
func (f *files) close() { f.closeUnused(time.Now().Add(time.Hour)) }

// closeUnused closes the files that were not used since a time.
func (f *files) closeUnused(since time.Time) {
	for _, r := range f.dropUnused(since) {
		r.close()
	}
}

// dropUnused drops the readers that were not used since a time, and returns them.
func (f *files) dropUnused(since time.Time) (unused []*reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, readers := range f.open {
		for _, r := range readers {
			if r.users == 0 && r.used.Before(since) {
				unused = append(unused, r)
			}
		}
	}
	for _, r := range unused {
		f.drop(r)
	}
	return unused
}

// close closes the file. A READ that nobody waits for may still use it, so it is called after the last one.
func (r *reader) close() {
	if r.file != nil {
		r.file.Close() // read-only: nothing can be lost
	}
}
