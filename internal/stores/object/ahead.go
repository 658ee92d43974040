package object

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/lru"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/small/ttl"
)

// walk is what is known about a program that lists the directories in a directory one after the other, as ls y*/ does.
// If each waited for its own listing, the program would take a round trip for each. So those that follow are listed
// ahead.
type walk struct {
	last   string    // the path of the directory that was listed last
	at     time.Time // when that was asked for
	window int       // how many of those that follow are listed ahead
	off    bool      // nothing is listed ahead any more: that has panicked
}

const (
	// maxWalks is the number of directories that walks are known of.
	maxWalks = 64

	// maxAhead is the largest window.
	maxAhead = parallel.Lookups

	// aheadTime is how long the program may take for all directories of a window. They are still valid then.
	aheadTime = ttl.Least / 2
)

func newWalks() *lru.Cache[string, *walk] { return lru.New[string, *walk](maxWalks) }

// listAhead is called when a program lists a directory. If it lists directory after directory, the next ones are
// listed, too, in goroutines that end with the answers of the store. Their results are valid as long as any other
// listing.
func (f *FS) listAhead(dir string) {
	for _, next := range f.facts.claimAhead(dir) {
		go guard.FuncElse("object.ahead", func() {
			defer next.ended()
			guard.Pass("object.ahead")
			_, _ = f.ask(context.Background(), next.dir) // an error may be gone when the directory is asked for
		}, func(err error) {
			f.facts.endWalk(next.dir)
			guard.Report(err, "path", next.dir)
		})()
	}
}

// claimed is a directory that is being listed until ended is called.
type claimed struct {
	dir   string
	ended func()
}

// claimAhead returns the directories to list ahead of one that is asked for now.
func (k *facts) claimAhead(dir string) (all []claimed) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, next := range k.follow(dir, time.Now()) {
		if len(k.listing) >= parallel.Lookups {
			return all
		}
		if l, ok := k.dirs.Get(next); k.listing[next] == nil && !(ok && time.Now().Before(l.until)) {
			all = append(all, claimed{next, k.claim(next)})
		}
	}
	return all
}

// follow records that a directory is asked for, and returns those of the window after it. The caller holds the lock.
func (k *facts) follow(dir string, now time.Time) []string {
	parent := path.Dir(dir)
	if dir == "." {
		return nil
	}
	w, ok := k.walks.Get(parent)
	if !ok {
		k.walks.Put(parent, &walk{last: dir, at: now}, 1)
		return nil
	}
	if dir == w.last || w.off {
		return nil
	}
	before := *w
	*w = walk{last: dir, at: now}
	siblings := k.after(before.last, dir)
	if siblings == nil {
		return nil
	}
	inTime := maxAhead
	if took := now.Sub(before.at); took > 0 {
		inTime = int(min(aheadTime/took, maxAhead))
	}
	w.window = min(max(2, 2*before.window), inTime)
	return siblings[:min(w.window, len(siblings))]
}

// endWalk ends listing ahead for the program that lists the directories beside a directory.
func (k *facts) endWalk(dir string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if w, ok := k.walks.Get(path.Dir(dir)); ok {
		w.off = true
	}
}

// after returns the paths of the directories that follow a directory, if it follows the last one in an order in which
// programs list: that of the bytes of the names, as shells do, or that of the numbers in them, as mounts do. Otherwise,
// or if the last one had too many entries to keep, it returns nil. The caller holds the lock.
func (k *facts) after(last, dir string) []string {
	parent, ok := k.dirs.Get(path.Dir(dir))
	if l, listed := k.dirs.Get(last); !ok || listed && l.entries == nil {
		return nil
	}
	var siblings []string
	for _, found := range parent.entries {
		if found.kind == directory {
			siblings = append(siblings, found.Key)
		}
	}
	for _, compare := range []func(a, b string) int{strings.Compare, shortFirst} {
		slices.SortFunc(siblings, compare)
		if i, ok := slices.BinarySearchFunc(siblings, dir, compare); ok && i > 0 && siblings[i-1] == last {
			return siblings[i+1:]
		}
	}
	return nil
}

// shortFirst orders names by their lengths first: y2 is before y10.
func shortFirst(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }
