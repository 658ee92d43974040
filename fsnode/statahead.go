//go:build linux

package fsnode

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
)

// statAhead stats the entries of a directory before the kernel looks them up. Programs such as ls list a
// directory and then stat each entry in turn. On a late source each stat takes a round trip, so one lookup
// stats the following entries, too.
type statAhead struct {
	fsys    fs.FS
	dir     string
	entries []fs.DirEntry // that were listed last, sorted by name

	mu    sync.Mutex
	ready map[string]statResult // by name; not yet looked up
	off   bool                  // entries are no longer statted ahead: one has panicked
}

// statResult is the result of a stat.
type statResult struct {
	info fs.FileInfo
	err  error
	at   time.Time // when the stat started
}

const (
	// statAheadTime is how long after a listing entries are statted ahead.
	statAheadTime = 10 * time.Second
	// statResultTime is how long the result of a stat is valid. The kernel keeps it for a second more.
	statResultTime = time.Second
)

// startStatAhead makes lookups of the listed entries stat ahead.
func (n *node) startStatAhead(entries []fs.DirEntry) {
	a := &statAhead{fsys: n.fsys, dir: n.path, entries: entries, ready: map[string]statResult{}}
	n.ahead.Store(a)
	time.AfterFunc(statAheadTime, guard.Func("fsnode.statahead", func() {
		guard.Pass("fsnode.statahead")
		n.ahead.CompareAndSwap(a, nil)
	}))
}

// stat describes an entry. The description may be up to a second old. It is safe for concurrent use.
func (a *statAhead) stat(name string) (fs.FileInfo, error) {
	if r, ok := a.take(name); ok {
		return r.info, r.err
	}
	i, listed := slices.BinarySearchFunc(a.entries, name,
		func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
	if !listed {
		return fs.Stat(a.fsys, path.Join(a.dir, name))
	}
	next := a.entries[i : i+a.window(len(a.entries)-i)]
	results := parallel.Map(next, a.statEntry)
	for i, e := range next[1:] {
		a.keep(e.Name(), results[i+1])
	}
	return results[0].info, results[0].err
}

// window returns how many of n entries are statted together.
func (a *statAhead) window(n int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.off {
		return 1
	}
	return min(n, parallel.Lookups)
}

// keep keeps the result for an entry that is not yet looked up. An error is not kept: it may be gone at the lookup.
func (a *statAhead) keep(name string, r statResult) {
	guard.Report(r.err, "path", path.Join(a.dir, name))
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.off = a.off || guard.Is(r.err); r.err == nil {
		a.ready[name] = r
	}
}

func (a *statAhead) statEntry(e fs.DirEntry) statResult {
	now := time.Now()
	info, err := guard.Call("fsnode.statahead", func() (fs.FileInfo, error) {
		guard.Pass("fsnode.statahead")
		return fs.Stat(a.fsys, path.Join(a.dir, e.Name()))
	})
	return statResult{info, err, now}
}

// take removes and returns the result for an entry. The next lookup of the entry asks the source again.
func (a *statAhead) take(name string) (statResult, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ok := a.ready[name]
	delete(a.ready, name)
	return r, ok && time.Since(r.at) < statResultTime
}
