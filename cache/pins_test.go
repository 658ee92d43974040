package cache

import (
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// Pinned blocks are hits until they are released. Then their memory is free.
func TestPins(t *testing.T) {
	c := newTestCache(t, 1<<20)
	a := newArray(1, volume.Vec{8, 1, 1}, 8192)
	src := c.Source(a)
	ignore := func(volume.Vec, []byte) {}
	var p Pins
	if err := src.ReadPinned(t.Context(), row(0, 4), Never, &p, ignore); err != nil {
		t.Fatal(err)
	}
	if got := lent(c); got != 4*8192 {
		t.Errorf("%d bytes are lent, expected 4 blocks", got)
	}
	if err := src.Read(t.Context(), row(0, 4), Never, ignore); err != nil {
		t.Fatal(err)
	}
	if s := c.Stats(); s.Hits != 4 || s.Loads != 4 {
		t.Errorf("%d hits, %d loads, expected 4 of each", s.Hits, s.Loads)
	}
	p.Release()
	p.Release()
	if err := src.ReadPinned(t.Context(), row(0, 4), Never, &p, ignore); err != nil { // a request that was in progress
		t.Fatal(err)
	}
	if got := lent(c); got != 0 {
		t.Errorf("%d bytes are lent after the release", got)
	}
}

// Requests pin blocks while the Pins is released.
func TestPinsReleasedMeanwhile(t *testing.T) {
	c := newTestCache(t, 0)
	src := c.Source(newArray(1, volume.Vec{64, 1, 1}, 4096))
	var wg sync.WaitGroup
	for range 100 {
		var p Pins
		for i := range 3 {
			wg.Go(func() {
				if err := src.ReadPinned(t.Context(), row(16*i, 16*i+16), Never, &p, func(volume.Vec, []byte) {}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(p.Release)
		wg.Wait()
		if got := lent(c); got != 0 {
			t.Fatalf("%d bytes are lent", got)
		}
	}
}
