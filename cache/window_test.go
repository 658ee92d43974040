package cache

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// blockEntry is an entry of one byte with the hash of its key.
func blockEntry(block uint64) *entry {
	k := volume.Key{Index: block}
	e := &entry{key: k, hash: hash(k), voxels: []byte{byte(block)}}
	e.refs.Store(1)
	return e
}

// What leaves the window is what was used longest ago.
func TestWindowOrder(t *testing.T) {
	const size = 4 // of the window, in blocks
	for _, tt := range []struct {
		name string
		use  []uint64 // blocks; one that is not in the window is added
		left []uint64
	}{
		{"room", []uint64{1, 2, 3, 4}, nil},
		{"first in, first out", []uint64{1, 2, 3, 4, 5, 6}, []uint64{1, 2}},
		{"used again", []uint64{1, 2, 3, 4, 1, 5, 6}, []uint64{2, 3}},
		{"used again between additions", []uint64{1, 2, 3, 1, 4, 5, 3, 6, 7}, []uint64{2, 1, 4}},
		{"came back", []uint64{1, 2, 3, 4, 5, 1, 6}, []uint64{1, 2, 3}},
		{"all used again", []uint64{1, 2, 3, 4, 4, 3, 2, 1, 5, 5, 6, 7, 8, 9}, []uint64{1, 2, 3, 4, 5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var left []uint64
			in := map[uint64]*entry{}
			w := window{capacity: size * (overhead + 1)}
			w.leave = func(entries []*entry) {
				for _, e := range entries {
					left = append(left, e.key.Index)
					delete(in, e.key.Index)
				}
				clear(entries) // the slice is leave's
			}
			for _, block := range tt.use {
				if e := in[block]; e != nil {
					w.touch(e)
					continue
				}
				in[block] = blockEntry(block)
				if rest := w.add([]*entry{in[block]}); len(rest) > 0 {
					t.Errorf("no room for block %d", block)
				}
			}
			if tt.name == "all used again" {
				slices.Sort(left) // the first four were used between the same additions
			}
			if !slices.Equal(left, tt.left) {
				t.Errorf("blocks %v left, expected %v", left, tt.left)
			}
			if got, want := w.used.Load(), int64(len(in)*(overhead+1)); got != want || len(w.queue) != len(in) {
				t.Errorf("%d bytes and %d entries, expected %d and %d", got, len(w.queue), want, len(in))
			}
		})
	}
}

// Of blocks that enter together, those enter for which there is room when all others have left.
func TestWindowRoom(t *testing.T) {
	const cost = overhead + 1
	w := window{capacity: 8 * cost, leave: func([]*entry) {}}
	add := func(from, to uint64, rest int) {
		t.Helper()
		var entries []*entry
		for block := from; block < to; block++ {
			entries = append(entries, blockEntry(block))
		}
		if got := w.add(entries); len(got) != rest || rest > 0 && got[0] != entries[len(entries)-rest] {
			t.Errorf("blocks %d to %d: no room for %d, expected the last %d", from, to-1, len(got), rest)
		}
	}
	add(0, 3, 0)
	add(3, 13, 2)
	if !w.reserve(5 * cost) {
		t.Error("5/8 of the window cannot be reserved")
	}
	add(13, 17, 1)
	if used := w.used.Load(); used != 3*cost {
		t.Errorf("%d bytes used, expected %d", used, 3*cost)
	}
	if left := w.clear(); len(left) != 3 {
		t.Errorf("%d entries left a window of 3", len(left))
	}
	if w.reserve(1) {
		t.Error("a byte of a window that is closed is reserved")
	}
	add(17, 20, 3)
	w.unreserve(5 * cost)
	add(20, 21, 1)
}

// testFrequent returns a store that only takes references off.
func testFrequent(capacity int64) *frequent {
	f := newFrequent(capacity)
	f.release = func(e *entry) { e.refs.Add(-1) }
	return f
}

// checkReleased fails unless the one reference to each of the entries is gone.
func checkReleased(t *testing.T, entries []*entry) {
	t.Helper()
	for _, e := range entries {
		if n := e.refs.Load(); n != 0 {
			t.Fatalf("%d references to block %d", n, e.key.Index)
		}
	}
}

// Every offer is decided when it returns: the block is kept, or its reference is given back.
func TestOffersAreDecided(t *testing.T) {
	const cost = overhead + 1
	f := testFrequent(50 * cost)
	var all []*entry
	offer := func(blocks ...uint64) {
		n := len(all)
		for _, block := range blocks {
			all = append(all, blockEntry(block))
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
	for block := range uint64(1000) { // also blocks that are kept, and the same twice
		offer(block, block+1, block)
	}
	f.close()
	checkReleased(t, all)
}

// Ristretto's queue of what is not yet judged may be full.
func TestOffersWithoutRoom(t *testing.T) {
	f := testFrequent(1000 * (overhead + 1))
	var all []*entry
	for block := range uint64(100_000) {
		all = append(all, blockEntry(block))
	}
	f.offer(all)
	f.close()
	checkReleased(t, all)
}

// Large blocks take the room of several small ones.
func TestOffersOfAllSizes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	f := testFrequent(1 << 20)
	var all []*entry
	for block := range uint64(20_000) {
		e := blockEntry(block)
		e.voxels = make([]byte, 1<<rnd.IntN(16))
		all = append(all, e)
		f.offer([]*entry{e})
		if used := f.used(); used > 1<<20 {
			t.Fatalf("%d bytes used of %d", used, 1<<20)
		}
	}
	f.close()
	checkReleased(t, all)
}
