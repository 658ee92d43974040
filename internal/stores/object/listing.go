package object

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/ttl"
)

// list returns the valid entries of a directory. If nothing is, it asks the store: for all keys below the directory if
// one answer has them, because then all directories below are known, too; else for the entries, up to one more than are
// kept.
func (f *FS) list(ctx context.Context, dir string) (listed, error) {
	l, ended, err := f.facts.startListing(ctx, dir)
	if ended == nil {
		return l, err
	}
	defer ended()
	return f.ask(ctx, dir)
}

// maxAsked is how many names a store may list before maxKept of them are entries of the directory.
const maxAsked = 8 * maxKept

// ask asks the store for a directory, and records what it says. The caller has the right to, from startListing or
// claimAhead.
func (f *FS) ask(ctx context.Context, dir string) (listed, error) {
	s := f.facts.start(dir)
	if time.Now().After(s.deepUntil) {
		known, first, err := f.listSubtree(ctx, dir)
		if known || err != nil {
			l, _ := f.facts.validListing(dir)
			return l, err
		}
		if s.deepUntil = time.Now().Add(ttl.Most); first != nil {
			s.tooMany()
			return listed{first: first}, nil
		}
	}
	s.started = time.Now()
	var all []Object
	for objects, err := range f.b.List(ctx, prefixOf(dir), "", "/") {
		all = join(all, objects)
		for _, o := range objects {
			if found, ok := factOf(prefixOf(dir), o); ok {
				s.add(found)
			}
		}
		if err != nil {
			f.facts.cannotList(dir, err)
			if errors.Is(err, ErrCannotList) {
				return listed{err: err}, nil
			}
			return listed{}, err
		}
		if s.entries != nil && len(all) > maxAsked {
			s.tooMany() // the store repeats names, or they are no paths
		}
		if s.entries == nil {
			return listed{first: all}, nil
		}
	}
	s.end()
	return listed{entries: entries(s.entries)}, nil
}

// startListing returns the valid entries of a directory, or a function to call when the caller has listed it. If
// another goroutine is listing it, startListing waits for that.
func (k *facts) startListing(ctx context.Context, dir string) (l listed, ended func(), err error) {
	for {
		if l, ok := k.validListing(dir); ok {
			return l, nil, nil
		}
		ended, busy := k.tryClaim(dir)
		if ended != nil {
			return listed{}, ended, nil
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return listed{}, nil, ctx.Err()
		}
	}
}

// tryClaim claims a directory, or returns a channel that is closed when another goroutine has listed it.
func (k *facts) tryClaim(dir string) (ended func(), busy <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if busy := k.listing[dir]; busy != nil {
		return nil, busy
	}
	return k.claim(dir), nil
}

// claim makes others wait for a directory, until the caller has listed it and calls ended. The caller holds the lock.
func (k *facts) claim(dir string) (ended func()) {
	mine := make(chan struct{})
	k.listing[dir] = mine
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.listing, dir)
		close(mine)
	}
}

// listSubtree asks for all keys below a directory. It returns true if one answer has them. If there are more, and none
// of the first ones lies in a directory below, it returns these: they are the first entries of the directory.
func (f *FS) listSubtree(ctx context.Context, dir string) (known bool, first []Object, err error) {
	if f.facts.cannotListSubtrees() {
		return false, nil, nil
	}
	start := time.Now()
	var all []Object
	for objects, err := range f.b.List(ctx, prefixOf(dir), "", "") {
		switch {
		case errors.Is(err, ErrCannotList):
			f.facts.setFlat()
			return false, nil, nil
		case err != nil:
			return false, nil, err
		}
		if all = join(all, objects); len(all) < maxKept {
			continue
		}
		if hasDirectory(dir, all) {
			return false, nil, nil // asking for more would take as long as asking for the entries
		}
		if len(all) > maxKept {
			return false, all, nil
		}
	}
	f.facts.putSubtree(dir, all, f.facts.validUntil(start))
	return true, nil, nil
}

// hasDirectory reports whether an object lies in a directory below dir.
func hasDirectory(dir string, objects []Object) bool {
	return slices.ContainsFunc(objects,
		func(o Object) bool { return strings.Contains(o.Key[len(prefixOf(dir)):], "/") })
}

// cannotListSubtrees reports whether the store only lists directories.
func (k *facts) cannotListSubtrees() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.flat
}

func (k *facts) setFlat() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flat = true
}

// putSubtree records all directories of a subtree. A directory that lies below another key's file does not exist.
func (k *facts) putSubtree(dir string, objects []Object, until time.Time) {
	t := subtree{dir: {}}
	if !hasDirectory(dir, objects) {
		t[dir] = make([]fact, 0, len(objects))
	}
	prefix := prefixOf(dir)
	for _, o := range objects {
		t.add(prefix, o)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if t[name] != nil {
			k.putListing(name, listed{until: until, entries: newEntries(t[name])})
		}
	}
}

// subtree has the entries of directories, by their paths. A directory that cannot exist, because its name is that of a
// file, has nil.
type subtree map[string][]fact

// add adds an object whose key starts with a prefix, and the directories on its path. It is called in the order of the
// keys.
func (t subtree) add(prefix string, o Object) {
	if !strings.HasPrefix(o.Key, prefix) {
		return
	}
	for start := len(prefix); ; {
		n := strings.IndexByte(o.Key[start:], '/')
		next := o
		if n >= 0 {
			next = Object{Key: o.Key[:start+n+1]}
		}
		found, valid := factOf(o.Key[:start], next)
		if !valid {
			return
		}
		at := dirOf(o.Key[:start])
		if n < 0 {
			t[at] = append(t[at], found)
			return
		}
		if _, known := t[found.Key]; !known {
			t.start(at, found)
		}
		if start += n + 1; t[found.Key] == nil || start == len(o.Key) {
			return
		}
	}
}

// start adds a new directory, unless a file has its name. A file is before what would lie below it.
func (t subtree) start(at string, found fact) {
	if slices.ContainsFunc(t[at], func(f fact) bool { return f.Key == found.Key }) {
		t[found.Key] = nil
		return
	}
	t[at], t[found.Key] = append(t[at], found), []fact{}
}

// join appends objects. It takes over the memory of the first ones: most directories are one answer.
func join(all, objects []Object) []Object {
	if all == nil {
		return slices.Clip(objects)
	}
	return append(all, objects...)
}
