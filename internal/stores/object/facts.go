package object

import (
	"errors"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/lru"
	"github.com/wkwfs/wkwfs/internal/small/ttl"
)

// facts are what listings and requests have shown about names, each for a while.
type facts struct {
	mu    sync.Mutex
	dirs  *lru.Cache[string, *listed]
	names *lru.Cache[string, *timedFact]
	above *lru.Cache[string, bool]  // directories in which a file was found
	walks *lru.Cache[string, *walk] // by the directory whose directories a program lists

	hidesDots bool          // listings leave out names that start with "."
	least     time.Duration // an answer is valid for at least this long

	listing map[string]chan struct{} // directories that are being listed; closed when that has ended
	flat    bool                     // the store cannot list a subtree at once
}

const (
	// maxListed and maxFacts limit the memory of facts, in bytes: of 200,000 objects in directories that were listed,
	// and of others.
	maxListed = 48 << 20
	maxFacts  = 16 << 20
	factSize  = 160 // of one, without its key and its version

	// maxAbove limits the memory for directories of stores that cannot list, in bytes: 4,000 directories.
	maxAbove = 1 << 20

	// maxKept is the largest number of entries of a directory that are kept together: one answer of a store. Names in
	// larger directories are asked for one by one.
	maxKept = 1000
)

func newFacts(hidesDots bool, least time.Duration) *facts {
	return &facts{
		dirs: lru.New[string, *listed](maxListed), names: lru.New[string, *timedFact](maxFacts),
		above: lru.New[string, bool](maxAbove),
		walks: newWalks(), hidesDots: hidesDots, least: least, listing: map[string]chan struct{}{},
	}
}

// found records that there is a file. So the names above it are directories.
func (k *facts) found(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		k.above.Put(dir, true, int64(factSize+len(dir)))
	}
}

// hadFile reports whether a file was found in a directory, or below it.
func (k *facts) hadFile(dir string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.above.Get(dir)
	return ok
}

// isHidden reports whether listings may leave out a name that exists.
func (k *facts) isHidden(name string) bool {
	return k.hidesDots && strings.HasPrefix(path.Base(name), ".")
}

// listed is a directory that was listed.
type listed struct {
	until   time.Time
	entries entries // all of them; nil: there are too many
	err     error   // why it cannot be listed

	first []Object // if there are too many: those that an answer had, for the one who asked

	described bool // the entries may be opened in these versions later, too

	deepUntil time.Time // one answer has not all keys below the directory, as far as is known until then
}

// timedFact is what a listing or a request has shown about a name, and how long that is valid.
type timedFact struct {
	fact
	until     time.Time
	described bool // it may be opened in this version later, too
}

// validUntil returns until when an answer to a request that started then is valid.
func (k *facts) validUntil(start time.Time) time.Time {
	return start.Add(ttl.AtLeast(k.least, time.Since(start)))
}

// described returns an object that Describe has yielded, unless something newer is known about it.
func (k *facts) described(name string) (fact, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s, ok := k.names.Get(name); ok {
		return s.fact, s.described
	}
	d, ok := k.dirs.Get(path.Dir(name))
	if !ok || !d.described {
		return fact{}, false
	}
	found := d.entries.get(name)
	return found, found.kind == file && found.complete() && found.Version != ""
}

// find returns the valid fact about a name.
func (k *facts) find(name string) (found fact, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if d, ok := k.dirs.Get(path.Dir(name)); ok && d.entries != nil && time.Now().Before(d.until) {
		found := d.entries.get(name) // absent, unless it is there
		if found.complete() && (found.kind != absent || !k.isHidden(name)) {
			return found, true
		}
	}
	if s, ok := k.names.Get(name); ok && time.Now().Before(s.until) {
		return s.fact, true
	}
	return fact{}, false
}

// validListing returns the valid entries of a directory.
func (k *facts) validListing(dir string) (listed, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	d, ok := k.dirs.Get(dir)
	if !ok || !time.Now().Before(d.until) {
		return listed{}, false
	}
	return *d, true
}

// record records what the answer to a request that started then showed about a name.
func (k *facts) record(name string, found fact, start time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if d, ok := k.dirs.Get(path.Dir(name)); ok && d.entries != nil && !k.isHidden(name) &&
		d.entries.get(name).contradicts(found) {
		k.dirs.Remove(path.Dir(name)) // it is older
	}
	k.put(name, &timedFact{fact: found, until: k.validUntil(start)})
}

// maxStreamed is the number of entries of a directory with too many that are kept, at least. That is a quarter of
// maxFacts.
const maxStreamed = 16 << 10

// recordAll records what a listing that started then showed about names.
func (k *facts) recordAll(listed []fact, start time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	until := k.validUntil(start)
	for _, found := range listed {
		if !found.complete() {
			continue
		}
		old, ok := k.names.Get(found.Key)
		k.put(found.Key, &timedFact{fact: found, until: until, described: ok && old.described &&
			!found.contradicts(old.fact)})
	}
}

// describeAll records that Describe yields all entries of a directory. It returns false if they are not kept together.
func (k *facts) describeAll(dir string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	d, ok := k.dirs.Get(dir)
	if !ok || d.entries == nil {
		return false
	}
	d.described = true
	return true
}

// describe records an object that Describe yields.
func (k *facts) describe(name string, found fact) {
	if found.kind != file || found.Version == "" {
		return // without a version, a read would not notice a change
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.put(name, &timedFact{fact: found, described: true})
}

func (k *facts) put(name string, s *timedFact) {
	k.names.Put(name, s, int64(factSize+len(name)+len(s.Key)+len(s.Version)))
}

// forget removes what is known about a name, because it has changed.
func (k *facts) forget(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.names.Remove(name)
	k.dirs.Remove(path.Dir(name))
}

// cannotList records that a directory cannot be listed.
func (k *facts) cannotList(dir string, err error) {
	if !errors.Is(err, ErrCannotList) {
		return // it may be listed when the network is back
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dirs.Put(dir, &listed{until: time.Now().Add(ttl.Most), err: err}, factSize)
}

// scan records the entries of a directory while it is listed.
type scan struct {
	facts   *facts
	dir     string
	started time.Time
	entries []fact // in the order of the store; nil: there are too many

	deepUntil time.Time // as in listed
}

func (k *facts) start(dir string) *scan {
	s := &scan{facts: k, dir: dir, started: time.Now(), entries: []fact{}}
	k.mu.Lock()
	defer k.mu.Unlock()
	if l, ok := k.dirs.Get(dir); ok {
		s.deepUntil = l.deepUntil
	}
	return s
}

// add records an entry. It forgets the others if there are too many.
func (s *scan) add(found fact) {
	if s.entries == nil {
		return
	}
	if s.entries = append(s.entries, found); len(s.entries) <= maxKept {
		return
	}
	if s.entries = newEntries(s.entries); len(s.entries) > maxKept {
		s.tooMany()
	}
}

// tooMany records that there are too many entries to keep them.
func (s *scan) tooMany() {
	s.entries = nil
	s.put(time.Now().Add(ttl.Most))
}

// end records that all entries were listed.
func (s *scan) end() {
	if s.entries != nil {
		s.entries = newEntries(s.entries)
		s.put(s.facts.validUntil(s.started))
	}
}

func (s *scan) put(until time.Time) {
	s.facts.mu.Lock()
	defer s.facts.mu.Unlock()
	s.facts.putListing(s.dir, listed{until: until, entries: s.entries, deepUntil: s.deepUntil})
}

// putListing records the entries of a directory. The caller holds the lock.
func (k *facts) putListing(dir string, l listed) {
	cost := int64(factSize + len(dir))
	for _, found := range l.entries {
		cost += int64(factSize + len(found.Key) + len(found.Version))
		if old, ok := k.names.Get(found.Key); ok && found.contradicts(old.fact) {
			k.names.Remove(found.Key) // it is older
		}
	}
	k.dirs.Put(dir, &l, cost)
}
