package cache

import (
	"slices"
	"testing"
)

// blockEntry is an entry of one byte with the hash of its key.
func blockEntry(block uint64) *entry {
	k := key{block: block}
	return &entry{key: k, hash: hash(k), data: []byte{byte(block)}}
}

// What leaves the window is what was used longest ago.
func TestWindowOrder(t *testing.T) {
	const size = 4 // of the window, in blocks
	for _, tt := range []struct {
		name string
		use  []uint64 // blocks; one that is not kept is added
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
			w := window{capacity: size * (overhead + 1)}
			w.offer = func(entries []*entry) {
				for _, e := range entries {
					if w.index.get(e.hash, e.key) == nil {
						t.Errorf("block %d is gone before it is offered", e.key.block)
					}
					left = append(left, e.key.block)
				}
			}
			for _, block := range tt.use {
				e := blockEntry(block)
				if w.get(e.hash, e.key) == nil {
					w.add(e)
				}
			}
			if tt.name == "all used again" {
				slices.Sort(left) // the first four were used between the same additions
			}
			if !slices.Equal(left, tt.left) {
				t.Errorf("blocks %v left, expected %v", left, tt.left)
			}
		})
	}
}

// A block that two loads bring at once is kept once.
func TestWindowKeepsOne(t *testing.T) {
	w := window{capacity: 10 * (overhead + 1)}
	for range 3 {
		w.add(blockEntry(1))
	}
	if used := w.used.Load(); used != overhead+1 || len(w.queue) != 1 {
		t.Errorf("%d bytes and %d entries, expected %d and 1", used, len(w.queue), overhead+1)
	}
}

// Every offer is decided when it returns: the block is kept, or nothing holds it.
func TestOffersAreDecided(t *testing.T) {
	f := newFrequent(50 * (overhead + 1))
	defer f.close()
	for block := range uint64(2000) {
		f.offer([]*entry{blockEntry(block)})
		kept := uint64(f.used() / (overhead + 1))
		if dropped := f.dropped.Load(); kept+dropped != block+1 || kept > 50 {
			t.Fatalf("%d blocks kept and %d dropped of %d", kept, dropped, block+1)
		}
	}
}
