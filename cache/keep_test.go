package cache

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// The reader that loads a block says whether it is kept: always, never, or if it was asked for before. Holds and
// readers are alike in this, and so are sources that share the block.
func TestKeep(t *testing.T) {
	for _, tt := range []struct {
		keeps string // of one reader after the other: N, I, A
		loads int
	}{
		{"NNN", 3},
		{"AAA", 1},
		{"ANI", 1},
		{"NA", 2},
		{"NAA", 2},
		{"III", 2},
		{"IINN", 2},
		{"NNIII", 4}, // Never leaves no trace
		{"INIII", 3},
		{"IAA", 2},
	} {
		for _, holds := range []int{0, 1, 2, 3, 6} { // bits: whether reader i%3 is a hold
			c := newTestCache(t, 4<<20)
			arrays := []*array{newArray(1, volume.Vec{9, 1, 1}, 5000), newArray(1, volume.Vec{9, 1, 1}, 5000)}
			for i, k := range tt.keeps {
				keep := map[rune]Keep{'N': Never, 'I': IfSeen, 'A': Always}[k]
				src := c.Source(fileArray{arrays[i%2], vfs.Version{1}})
				if holds>>(i%3)&1 != 0 {
					h := newHold(t, src, row(0, 9), 4, keep)
					checkHold(t, h, arrays[0], row(0, 9))
					release(h)
				} else if err := src.Read(t.Context(), row(0, 9), keep, func(volume.Vec, []byte) {}); err != nil {
					t.Error(err)
				}
			}
			if got := arrays[0].total() + arrays[1].total(); got != 9*tt.loads {
				t.Errorf("%s, holds %b: %d loads of 9 blocks, expected %d of each", tt.keeps, holds, got, tt.loads)
			}
		}
	}
}

// release closes a hold that is loaded, and waits until its memory is free.
func release(h *Hold) {
	for h.Busy() {
		runtime.Gosched()
	}
	h.Close()
}

// What was seen is remembered for a while.
func TestSeen(t *testing.T) {
	s := newSeen(0)
	again := func(from, to uint64) (n int) {
		for i := from; i < to; i++ {
			if s.ask(mix(i), time.Now()) != unseen {
				n++
			}
		}
		return n
	}
	if n := again(0, 100); n != 0 {
		t.Errorf("%d of 100 blocks were seen that were not", n)
	}
	if n := again(0, 100); n < 95 {
		t.Errorf("%d of 100 blocks are remembered", n)
	}
	others := 16 * uint64(len(s))
	again(1000, 1000+others)
	if n := again(0, 100); n > 5 {
		t.Errorf("%d of 100 blocks are remembered after %d others", n, others)
	}
	for _, tt := range []struct {
		budget int64
		n      int
	}{{-1, 1 << 12}, {8 << 20, 1 << 12}, {9 << 20, 1 << 13}, {2 << 30, 1 << 20}} {
		if got := len(newSeen(tt.budget)) * len(bucket{}); got != tt.n {
			t.Errorf("budget %d: %d are remembered, expected %d", tt.budget, got, tt.n)
		}
	}
}

// Half of the budget can be reserved; blocks have what is left.
func TestReserve(t *testing.T) {
	const size = 1000 - overhead
	c := newTestCache(t, 100_000)
	a := newArray(1, volume.Vec{200, 1, 1}, size)
	src := c.Source(a)
	readAll := func() {
		for b := range all(a) {
			check(t, src, a, b)
		}
	}
	held := func(want int64) {
		t.Helper()
		if got := c.Stats().HeldBytes; got != want {
			t.Errorf("%d bytes held, expected %d", got, want)
		}
	}
	readAll()
	held(80_000) // ristretto is offered blocks that are loaded once more
	readAll()
	held(100_000)
	for _, tt := range []struct {
		n  int64
		ok bool
	}{{50_001, false}, {30_000, true}, {20_001, false}, {20_000, true}, {1, false}} {
		if ok := c.Reserve(tt.n); ok != tt.ok {
			t.Errorf("%d bytes reserved: %v, expected %v", tt.n, ok, tt.ok)
		}
		held(100_000)
	}
	readAll()
	held(100_000)
	if kept := c.window.used.Load(); kept != 30_000 {
		t.Errorf("%d bytes of blocks in the window, expected 30000", kept)
	}
	c.Unreserve(50_000)
	held(50_000)
	readAll()
	held(100_000)
}

// Blocks that are kept briefly have an eighth of the budget, and leave the rest alone. A reader that returns to them a few seconds
// later has them kept like others.
func TestBriefly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1<<12 - overhead
		a := newArray(1, volume.Vec{2000, 1, 1}, size)
		c := New(1 << 20)
		defer c.Close()
		src := c.Source(a)
		read := func(from, to int, keep Keep) (loads int) {
			before := a.total()
			if err := src.Read(t.Context(), row(from, to), keep, ignore); err != nil {
				t.Error(err)
			}
			return a.total() - before
		}
		read(0, 100, Always)
		for i := range 19 {
			if n := read(100+10*i, 110+10*i, Briefly); n != 10 {
				t.Errorf("%d of 10 new blocks loaded", n)
			}
			if n := read(100+10*i, 110+10*i, Briefly); n != 0 {
				t.Errorf("%d of 10 blocks loaded that were read just now", n)
			}
		}
		if n := read(0, 100, Briefly); n != 0 {
			t.Errorf("%d blocks had to go for those that are kept briefly", n)
		}
		if n := read(100, 110, IfSeen); n != 10 {
			t.Errorf("%d of 10 blocks loaded that had to go", n)
		}
		time.Sleep(5 * time.Second)
		read(120, 170, Briefly)
		read(500, 700, Briefly)
		if n := read(120, 170, IfSeen); n != 0 {
			t.Errorf("%d of 50 blocks loaded that a reader has returned to", n)
		}
	})
}
