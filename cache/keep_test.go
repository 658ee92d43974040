package cache

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// The request that loads a block decides whether it is kept: always, never, or if it was requested before. This is
// the same for holds and reads, and for sources that share the block.
func TestKeep(t *testing.T) {
	for _, tt := range []struct {
		keeps string // of one reader after the other: N(ever), I(fSeen), A(lways)
		loads int
	}{
		{"NNN", 3},
		{"AAA", 1},
		{"ANI", 1},
		{"NA", 2},
		{"NAA", 2},
		{"III", 2},
		{"IINN", 2},
		{"NNIII", 4}, // requests with Never are not recorded
		{"INIII", 3},
		{"IAA", 2},
	} {
		for _, holds := range []int{0, 1, 2, 3, 6} { // bit i%3: reader i is a hold
			c := newTestCache(t, 4<<20)
			arrays := []*array{newArray(1, volume.Vec{9, 1, 1}, 5000), newArray(1, volume.Vec{9, 1, 1}, 5000)}
			for i, k := range tt.keeps {
				keep := map[rune]Keep{'N': Never, 'I': IfSeen, 'A': Always}[k]
				src := c.Source(versionedArray{arrays[i%2], vfs.Version{1}})
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

// release waits until a hold is loaded, and closes it.
func release(h *Hold) {
	for h.InUse() {
		runtime.Gosched()
	}
	h.Close()
}

// Short-term blocks take up to an eighth of the budget and leave the rest alone. If a reader returns to them some
// seconds later, they are kept like other blocks.
func TestShortTerm(t *testing.T) {
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
			if n := read(100+10*i, 110+10*i, ShortTerm); n != 10 {
				t.Errorf("%d of 10 new blocks loaded", n)
			}
			if n := read(100+10*i, 110+10*i, ShortTerm); n != 0 {
				t.Errorf("%d of 10 blocks loaded again that were read just now", n)
			}
		}
		if n := read(0, 100, ShortTerm); n != 0 {
			t.Errorf("%d other blocks were evicted for short-term blocks", n)
		}
		if n := read(100, 110, IfSeen); n != 10 {
			t.Errorf("%d of 10 short-term blocks loaded again, expected all to be evicted", n)
		}
		time.Sleep(5 * time.Second)
		read(120, 170, ShortTerm)
		read(500, 700, ShortTerm)
		if n := read(120, 170, IfSeen); n != 0 {
			t.Errorf("%d of 50 blocks loaded again to which a reader has returned", n)
		}
	})
}
