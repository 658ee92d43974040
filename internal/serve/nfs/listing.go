package nfs

import (
	"io/fs"
	"iter"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// maxListings bounds the listings that are kept open. Each has a batch of up to [vfs.BatchSize] entries.
const maxListings = 32

// listings keeps listings open between calls of READDIR, so that a long directory is listed once. A listing that was
// not kept is started again, and skips the entries that the client has.
type listings struct {
	fsys fs.FS

	mu   sync.Mutex
	kept []*listing // the least recently used first
}

// listing lists a directory. It is used by one call at a time.
type listing struct {
	dir   string
	next  int           // index of entries[0] in the directory
	rest  []fs.DirEntry // that were listed, from next
	err   error         // after rest
	ended bool          // there are no more after rest
	pull  func() ([]fs.DirEntry, error, bool)
	stop  func()
	used  time.Time
}

func newListings(fsys fs.FS) *listings { return &listings{fsys: fsys} }

// at returns a listing of a directory from the entry with an index. The caller must keep it or stop it.
func (ls *listings) at(dir string, index int) *listing {
	if l := ls.take(dir, index); l != nil {
		return l
	}
	pull, stop := iter.Pull2(guard.Seq("nfs.list", vfs.ListDir(ls.fsys, dir)))
	l := &listing{dir: dir, pull: pull, stop: stop}
	for l.next < index && l.fill() {
		l.skip(min(index-l.next, len(l.rest)))
	}
	return l
}

// take removes and returns a kept listing. It returns nil if there is none.
func (ls *listings) take(dir string, index int) *listing {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for i, l := range ls.kept {
		if l.dir == dir && l.next == index {
			ls.kept = append(ls.kept[:i:i], ls.kept[i+1:]...)
			return l
		}
	}
	return nil
}

// keep keeps a listing for the next call, unless it has ended.
func (ls *listings) keep(l *listing) {
	if l.err != nil || l.ended && len(l.rest) == 0 {
		l.stop()
		return
	}
	l.used = time.Now()
	if oldest := ls.add(l); oldest != nil {
		oldest.stop()
	}
}

// add adds a listing. It returns the one that is not kept any more because of that, or nil.
func (ls *listings) add(l *listing) (oldest *listing) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.kept = append(ls.kept, l)
	if len(ls.kept) > maxListings {
		oldest, ls.kept = ls.kept[0], ls.kept[1:]
	}
	return oldest
}

// closeIdle stops the listings that were not used for idleTime.
func (ls *listings) closeIdle(now time.Time) { ls.closeUnused(now.Add(-idleTime)) }

// close stops all listings.
func (ls *listings) close() { ls.closeUnused(time.Now().Add(time.Hour)) }

func (ls *listings) closeUnused(since time.Time) {
	for _, l := range ls.takeUnused(since) {
		l.stop()
	}
}

// takeUnused removes the listings that were not used since a time, and returns them.
func (ls *listings) takeUnused(since time.Time) (unused []*listing) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	var used []*listing
	for _, l := range ls.kept {
		if l.used.Before(since) {
			unused = append(unused, l)
		} else {
			used = append(used, l)
		}
	}
	ls.kept = used
	return unused
}

// fill lists more entries, unless there are some. It returns false at the end, and after an error.
func (l *listing) fill() bool {
	for len(l.rest) == 0 && !l.ended && l.err == nil {
		batch, err, ok := l.pull()
		l.rest, l.err, l.ended = batch, err, !ok
	}
	return len(l.rest) > 0
}

// skip moves past n of the entries that were listed.
func (l *listing) skip(n int) { l.rest, l.next = l.rest[n:], l.next+n }
