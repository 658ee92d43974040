package cache

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// newTestEntry returns an entry of one byte.
func newTestEntry(block uint64) *entry {
	k := volume.Key{Index: block}
	e := &entry{key: k, hash: hash(k), voxels: []byte{byte(block)}}
	e.refs.Store(1)
	return e
}

// The recent list evicts the blocks that were used longest ago.
func TestWindowOrder(t *testing.T) {
	const size = 4 // of the recent list, in blocks
	for _, tt := range []struct {
		name    string
		use     []uint64 // blocks; those that are not in the recent list are added
		evicted []uint64
	}{
		{"room", []uint64{1, 2, 3, 4}, nil},
		{"first in, first out", []uint64{1, 2, 3, 4, 5, 6}, []uint64{1, 2}},
		{"used again", []uint64{1, 2, 3, 4, 1, 5, 6}, []uint64{2, 3}},
		{"used again between additions", []uint64{1, 2, 3, 1, 4, 5, 3, 6, 7}, []uint64{2, 1, 4}},
		{"added again", []uint64{1, 2, 3, 4, 5, 1, 6}, []uint64{1, 2, 3}},
		{"all used again", []uint64{1, 2, 3, 4, 4, 3, 2, 1, 5, 5, 6, 7, 8, 9}, []uint64{1, 2, 3, 4, 5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var evicted []uint64
			in := map[uint64]*entry{}
			w := recentList{capacity: size * (overhead + 1)}
			w.onEvict = func(entries []*entry) {
				for _, e := range entries {
					evicted = append(evicted, e.key.Index)
					delete(in, e.key.Index)
				}
				clear(entries) // onEvict may overwrite the slice
			}
			for _, block := range tt.use {
				if e := in[block]; e != nil {
					w.touch(e)
					continue
				}
				in[block] = newTestEntry(block)
				if rest := w.add([]*entry{in[block]}); len(rest) > 0 {
					t.Errorf("no room for block %d", block)
				}
			}
			if tt.name == "all used again" {
				slices.Sort(evicted) // the order of the first four is undefined
			}
			if !slices.Equal(evicted, tt.evicted) {
				t.Errorf("blocks %v evicted, expected %v", evicted, tt.evicted)
			}
			if got, want := w.used.Load(), int64(len(in)*(overhead+1)); got != want || len(w.queue) != len(in) {
				t.Errorf("%d bytes and %d entries, expected %d and %d", got, len(w.queue), want, len(in))
			}
		})
	}
}

// If blocks are added together, the first ones enter for which there is room after evicting all others.
func TestWindowRoom(t *testing.T) {
	const cost = overhead + 1
	w := recentList{capacity: 8 * cost, onEvict: func([]*entry) {}}
	add := func(from, to uint64, rest int) {
		t.Helper()
		var entries []*entry
		for block := from; block < to; block++ {
			entries = append(entries, newTestEntry(block))
		}
		if got := w.add(entries); len(got) != rest || rest > 0 && got[0] != entries[len(entries)-rest] {
			t.Errorf("blocks %d to %d: no room for %d, expected the last %d", from, to-1, len(got), rest)
		}
	}
	add(0, 3, 0)
	add(3, 13, 2)
	if !w.reserve(5 * cost) {
		t.Error("5/8 of the recent list cannot be reserved")
	}
	add(13, 17, 1)
	if used := w.used.Load(); used != 3*cost {
		t.Errorf("%d bytes used, expected %d", used, 3*cost)
	}
	if left := w.clear(); len(left) != 3 {
		t.Errorf("%d entries left a list of 3", len(left))
	}
	if w.reserve(1) {
		t.Error("a closed list reserved a byte")
	}
	add(17, 20, 3)
	w.reserved.Add(-5 * cost)
	add(20, 21, 1)
}

// newTestFrequent returns a frequent that only counts references.
func newTestFrequent(capacity int64) *frequent {
	f := newFrequent(capacity)
	f.release = func(e *entry) { e.refs.Add(-1) }
	return f
}

// checkNoReferences checks that all references to entries were released.
func checkNoReferences(t *testing.T, entries []*entry) {
	t.Helper()
	for _, e := range entries {
		if n := e.refs.Load(); n != 0 {
			t.Fatalf("%d references to block %d", n, e.key.Index)
		}
	}
}

// When offer returns, each block is kept, or its reference is released.
func TestOffersAreDecided(t *testing.T) {
	const cost = overhead + 1
	f := newTestFrequent(50 * cost)
	var all []*entry
	offer := func(blocks ...uint64) {
		n := len(all)
		for _, block := range blocks {
			all = append(all, newTestEntry(block))
		}
		f.offer(all[n:])
		kept := int(f.used() / cost)
		if dropped := int(f.dropped.Load()); kept+dropped != len(all) || kept > 50 {
			t.Fatalf("%d blocks kept and %d dropped of %d", kept, dropped, len(all))
		}
	}
	for block := range uint64(1000) {
		offer(block)
	}
	for block := range uint64(1000) { // including kept blocks and duplicates
		offer(block, block+1, block)
	}
	f.close()
	checkNoReferences(t, all)
}

// Ristretto's queue of new values may be full.
func TestOffersWithoutRoom(t *testing.T) {
	f := newTestFrequent(1000 * (overhead + 1))
	var all []*entry
	for block := range uint64(100_000) {
		all = append(all, newTestEntry(block))
	}
	f.offer(all)
	f.close()
	checkNoReferences(t, all)
}

// A large block evicts several small ones.
func TestOffersOfAllSizes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	f := newTestFrequent(1 << 20)
	var all []*entry
	for block := range uint64(20_000) {
		e := newTestEntry(block)
		e.voxels = make([]byte, 1<<rnd.IntN(16))
		all = append(all, e)
		f.offer([]*entry{e})
		if used := f.used(); used > 1<<20 {
			t.Fatalf("%d bytes used of %d", used, 1<<20)
		}
	}
	f.close()
	checkNoReferences(t, all)
}
