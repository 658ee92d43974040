package fsnode

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/parallel"
)

// lookahead is what a directory had when it was listed last. Programs such as ls list a directory and then look at each
// entry in turn. Where that takes a round trip, the entries after the one that is asked for are looked at with it.
type lookahead struct {
	fsys    fs.FS
	dir     string
	entries []fs.DirEntry // sorted by name

	mu    sync.Mutex
	found map[string]looked // what nobody has asked for yet
}

// looked is what was seen of an entry.
type looked struct {
	info fs.FileInfo
	err  error
	at   time.Time
}

const (
	// listedFor is for how long a listing is good for looking ahead.
	listedFor = 10 * time.Second
	// aheadFor is for how long what was seen of an entry is believed. The kernel believes it for a second more.
	aheadFor = time.Second
)

// listed lets those who look at entries of the directory find what comes next.
func (n *node) listed(entries []fs.DirEntry) {
	a := &lookahead{fsys: n.fsys, dir: n.path, entries: entries, found: map[string]looked{}}
	n.ahead.Store(a)
	time.AfterFunc(listedFor, func() { n.ahead.CompareAndSwap(a, nil) })
}

// stat says what the entry is, or was less than a second ago. It is asked by many at a time.
func (a *lookahead) stat(name string) (fs.FileInfo, error) {
	if seen, ok := a.take(name); ok {
		return seen.info, seen.err
	}
	i, listed := slices.BinarySearchFunc(a.entries, name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
	if !listed {
		return fs.Stat(a.fsys, path.Join(a.dir, name))
	}
	next := a.entries[i:min(i+parallel.Looks, len(a.entries))]
	seen := make([]looked, 0, len(next))
	for _, l := range parallel.Each(next, a.look) {
		seen = append(seen, l)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, e := range next[1:] {
		if seen[i+1].err == nil { // an error lasts as long as it lasts
			a.found[e.Name()] = seen[i+1]
		}
	}
	return seen[0].info, seen[0].err
}

func (a *lookahead) look(e fs.DirEntry) looked {
	now := time.Now()
	info, err := fs.Stat(a.fsys, path.Join(a.dir, e.Name()))
	return looked{info, err, now}
}

// take returns what was seen of an entry, and forgets it: the next caller looks at the source again.
func (a *lookahead) take(name string) (looked, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen, ok := a.found[name]
	delete(a.found, name)
	return seen, ok && time.Since(seen.at) < aheadFor
}
