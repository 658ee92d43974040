package cache

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestKeepAtMost: the cache gives memory back while readers read, and keeps less from then on. Readers get right
// blocks, and holds may reserve as much as before.
func TestKeepAtMost(t *testing.T) {
	const budget, fewer, block = 16 << 20, 2 << 20, 8 << 10
	c := newTestCache(t, budget)
	a := newArray(1, volume.Vec{4096, 1, 1}, block)
	src := c.Source(a)
	reservable := c.Reservable()
	reads := 300
	if testing.Short() {
		reads = 100
	}
	readers := storm(src, reads, 16)
	for c.Stats().HeldBytes < budget/2 {
		checkBlock(t, src, a, volume.Vec{int(c.Stats().Loads) % 4096})
	}
	c.KeepAtMost(fewer)
	if held := c.Stats().HeldBytes; held > fewer+8*16*block {
		t.Errorf("%d bytes are held, expected at most %d and what 8 readers use", held, fewer)
	}
	<-readers
	c.KeepAtMost(budget) // more than now
	for x := range 4096 {
		checkBlock(t, src, a, volume.Vec{x})
	}
	if held := c.Stats().HeldBytes; held > fewer || held < fewer/4 {
		t.Errorf("%d bytes are held after more reads, expected at most %d and not much less", held, fewer)
	}

	c.KeepAtMost(0)
	if held := c.Stats().HeldBytes; held != 0 {
		t.Errorf("%d bytes are held, expected none", held)
	}
	if b := backed(c); b != 0 || c.arena.limit != maxInFlight {
		t.Errorf("%d bytes are backed by memory, expected none; the limit is %d, expected %d", b, c.arena.limit,
			maxInFlight)
	}
	if got := c.Reservable(); got != reservable || !c.Reserve(got) {
		t.Errorf("%d bytes can be reserved, expected %d as before", got, reservable)
	}
	c.Unreserve(reservable)
	checkBlock(t, src, a, volume.Vec{7})
}
