package diskcache

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/lru"
	"github.com/wkwfs/wkwfs/internal/object"
)

const (
	// Beliefs are bounded by bytes: of descriptions and absences, and of listings.
	headBytes = 8 << 20
	listBytes = 32 << 20
	// entryBytes is about the memory of an object without its strings.
	entryBytes = 150
)

// beliefs are descriptions of objects, absences and listings, as the source said them a while ago. They are in memory.
type beliefs struct {
	time time.Duration // how long the source is believed

	mu      sync.Mutex
	changes int // how often something was forgotten
	heads   *lru.Cache[string, headBelief]
	lists   *lru.Cache[query, listBelief]
}

type headBelief struct {
	object object.Object
	err    error // nil, or wraps fs.ErrNotExist
	until  time.Time
}

// query is what List is asked for.
type query struct{ prefix, after, delimiter string }

type listBelief struct {
	query   query
	batches [][]object.Object
	until   time.Time
}

// moment is when a request started: an answer does not count if something was forgotten since.
type moment struct {
	time    time.Time
	changes int
}

func newBeliefs(d time.Duration) *beliefs {
	return &beliefs{time: d, heads: lru.New[string, headBelief](headBytes), lists: lru.New[query, listBelief](listBytes)}
}

func (b *beliefs) now() moment {
	b.mu.Lock()
	defer b.mu.Unlock()
	return moment{time.Now(), b.changes}
}

// head returns what the source said about a key. ok is false if it has to be asked.
func (b *beliefs) head(key string) (o object.Object, err error, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h, ok := b.heads.Get(key)
	if !ok || !time.Now().Before(h.until) {
		return o, nil, false
	}
	return h.object, h.err, true
}

// addHead stores the answer to a request that started at a moment. Errors other than absence are not stored.
func (b *beliefs) addHead(key string, o object.Object, err error, since moment) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if since.changes == b.changes {
		b.heads.Put(key, headBelief{o, err, since.time.Add(b.time)}, int64(2*len(key)+len(o.Version)+2*entryBytes))
	}
}

// list returns what the source said. ok is false if it has to be asked.
func (b *beliefs) list(q query) (batches [][]object.Object, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.lists.Get(q)
	return l.batches, ok && time.Now().Before(l.until)
}

// record yields the batches of a listing, and stores them if the listing ends without an error.
func (b *beliefs) record(q query, listing iter.Seq2[[]object.Object, error]) iter.Seq2[[]object.Object, error] {
	return func(yield func([]object.Object, error) bool) {
		since := b.now()
		l := listBelief{query: q, until: since.time.Add(b.time)}
		cost := int64(len(q.prefix) + len(q.after) + entryBytes)
		for batch, err := range listing {
			for _, o := range batch {
				cost += int64(len(o.Key) + len(o.Version) + entryBytes)
			}
			if l.batches = append(l.batches, slices.Clone(batch)); cost > listBytes { // the caller owns batch
				l.batches = nil
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
		if cost <= listBytes {
			b.addList(l, cost, since)
		}
	}
}

// addList stores a listing that started at a moment. What it has is no longer absent.
func (b *beliefs) addList(l listBelief, cost int64, since moment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if since.changes != b.changes {
		return
	}
	b.lists.Put(l.query, l, cost)
	for _, batch := range l.batches {
		for _, o := range batch {
			if h, ok := b.heads.Get(o.Key); ok && h.err != nil {
				b.heads.Remove(o.Key)
			}
		}
	}
}

// forget forgets all that was said about a key, because the source says something else now.
func (b *beliefs) forget(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changes++
	b.heads.Remove(key)
	var stale []query
	for l := range b.lists.Values() {
		if strings.HasPrefix(key, l.query.prefix) {
			stale = append(stale, l.query)
		}
	}
	for _, q := range stale {
		b.lists.Remove(q)
	}
}

// replay yields batches of a listing. The caller of the listing owns them.
func replay(ctx context.Context, batches [][]object.Object) iter.Seq2[[]object.Object, error] {
	return func(yield func([]object.Object, error) bool) {
		for _, batch := range batches {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(slices.Clone(batch), nil) {
				return
			}
		}
	}
}
