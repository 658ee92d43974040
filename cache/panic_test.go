package cache

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/volume"
)

// announcer is a keyed source that takes announcements.
type announcer struct{ *keyed }

func (announcer) Announce(context.Context, volume.Box) {}

// TestPanics injects a panic into each place of the package, while readers of the same blocks read in all ways. A read
// has the right bytes, or fails with the panic. No reader waits forever, the next read works, and all memory is given
// back.
func TestPanics(t *testing.T) {
	for place, spans := range map[string]int{
		"cache.load": 12, "cache.publish": 12, "cache.round": 6, "cache.request": 12, "cache.hold": 6,
		"cache.resolve": 3, "cache.announce": 1, "cache.prepare": 1, "cache.evict": 1,
	} {
		for nth := range int32(spans) {
			var passed atomic.Int32
			restore := guard.Inject(func(p string) {
				if p == place && passed.Add(1) == nth+1 {
					panic("injected")
				}
			})
			before := guard.Count()
			t.Run(place, func(t *testing.T) { readInAllWays(t, func() bool { return passed.Load() > nth }) })
			restore()
			if passed.Load() <= nth || guard.Count() != before+1 {
				t.Errorf("%s: passed %d times, %d panics; expected one at %d", place, passed.Load(),
					guard.Count()-before, nth+1)
			}
		}
	}
}

// readInAllWays reads the blocks of a source in all ways at the same time, again and again until done.
func readInAllWays(t *testing.T, done func() bool) {
	const blocks = 3 * blocksPerFile
	for round := 0; round < 1000 && (round == 0 || !done()); round++ {
		c := newTestCache(t, 12*BlockMemory(5000))
		k := newKeyed(5000, 1, 2, 3)
		src := c.Source(announcer{k})
		check := func(way string, err error) {
			if e, ok := errors.AsType[*guard.Error](err); err != nil && (!ok || e.Value != "injected") {
				t.Errorf("%s: %v", way, err)
			}
		}
		use := func(at volume.Vec, voxels []byte) {
			if !bytes.Equal(voxels, k.content(at)) {
				t.Errorf("block %v: wrong bytes", at)
			}
		}
		var readers sync.WaitGroup
		for i, keep := range []Keep{Never, Always, IfSeen, ShortTerm} {
			readers.Go(func() {
				bs := row(0, blocks)
				if i%2 == 1 {
					slices.Reverse(bs)
				}
				for range 3 {
					check("read", guard.Do("test", func() error { return src.Read(t.Context(), bs, keep, use) }))
				}
			})
			readers.Go(func() {
				src.Announce(t.Context(), volume.Box{Max: src.blocks})
				h := newHold(t, src, row(0, blocks), 3, keep)
				defer h.Close()
				for n := range blocks {
					err := h.Wait(t.Context(), n, n)
					if check("hold", err); err == nil {
						use(volume.Vec{n, 0, 0}, h.Voxels()[n])
					}
				}
			})
		}
		readers.Wait()
		for n := range 2 * blocks { // one after the other: blocks are evicted even with one processor
			check("again",
				guard.Do("test", func() error { return src.Read(t.Context(), row(n%blocks, n%blocks+1), Always, use) }))
		}
		c.frequent.ristretto.Wait()
		if done() {
			checkKeyed(t, src, k, 0, blocks)
		}
	}
}

// TestAnnouncesNoMore: after a panic in an announcement, the source gets no other.
func TestAnnouncesNoMore(t *testing.T) {
	a := announced{newArray(3, volume.Cube(2), 64), make(chan volume.Box, 3)}
	c := New(1 << 20)
	src, box := c.Source(a), volume.Box{Max: volume.Cube(2)}
	src.Announce(t.Context(), box)
	for !src.mute.Load() {
		runtime.Gosched()
	}
	src.Announce(t.Context(), box)
	c.Close()
	if n := len(a.boxes); n != 1 {
		t.Errorf("%d announcements, expected 1", n)
	}
}
