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
	"testing/synctest"

	"github.com/wkwfs/wkwfs/volume"
)

// newHold returns a hold of blocks.
func newHold(t *testing.T, src *Source, bs []volume.Vec, size int, keep Keep) *Hold {
	t.Helper()
	h, err := src.Hold(bs, HoldOptions{BatchSize: size, Keep: keep})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// checkHold waits for the blocks of a hold and compares them with the array.
func checkHold(t *testing.T, h *Hold, a *array, bs []volume.Vec) {
	t.Helper()
	if err := h.Wait(t.Context(), 0, len(bs)-1); err != nil {
		t.Error(err)
		return
	}
	for i, b := range bs {
		if !bytes.Equal(h.Voxels()[i], a.content(b)) {
			t.Errorf("block %v: wrong bytes", b)
		}
	}
}

// TestHoldBatches: batches of blocks that are not next to each other in the list. Waiting for a block waits for its
// batch only, and an error concerns the blocks of its batch only.
func TestHoldBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArray(1, volume.Vec{64, 1, 1}, 5000)
		bs := row(0, 12)
		h, err := newTestCache(t, 0).Source(a).Hold(bs,
			HoldOptions{BatchOf: []int32{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2, 3}})
		if err != nil {
			t.Fatal(err)
		}
		checkHold(t, h, a, bs)
		if len(a.fills) != 4 || a.total() != 12 {
			t.Errorf("%d loads of %d blocks, want 4 of 12", len(a.fills), a.total())
		}
		h.Close()
	})
}

// A hold loads all blocks, in batches of the given size, with any budget.
func TestHold(t *testing.T) {
	for _, size := range []int{1, 3, 20, 21, 64, 100} {
		for _, keep := range []Keep{Never, IfSeen, Always} {
			synctest.Test(t, func(t *testing.T) {
				a := newArray(1, volume.Vec{64, 1, 1}, 5000)
				c := newTestCache(t, 1<<17)
				src := c.Source(a)
				h := newHold(t, src, row(0, 64), size, keep)
				checkHold(t, h, a, row(0, 64))
				checkBlocks(t, src, a, row(0, 64))
				if want := (64 + size - 1) / size; len(a.fills) != want || a.total() != 64 {
					t.Errorf("batches of %d: %d loads of %d blocks, expected %d of 64", size, len(a.fills), a.total(),
						want)
				}
				h.Close()
				synctest.Wait()
				if got := lent(c); keep != Always && got != 0 || keep == Always && (got == 0 || got > 1<<17) {
					t.Errorf("batches of %d, keep %d: %d bytes are lent after the hold was closed", size, keep, got)
				}
			})
		}
	}
}

// TestHoldAhead: a hold that nobody waits for leaves one core to others if its source answers at once. It takes that
// core as soon as a user waits.
func TestHoldAhead(t *testing.T) {
	if cores == 1 {
		t.Skip("there is no core to leave")
	}
	for _, answers := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a := newArray(1, volume.Vec{64, 1, 1}, 5000)
			gate, loading := make(chan bool), atomic.Int32{}
			a.wait = func(context.Context, volume.Vec) error {
				loading.Add(1)
				<-gate
				return nil
			}
			expect := func(when string, want int) {
				t.Helper()
				if synctest.Wait(); int(loading.Load()) != want {
					t.Errorf("answers at once: %v: %d batches are loading %s, expected %d", answers, loading.Load(),
						when, want)
				}
			}
			first := cores
			if answers {
				first--
			}
			bs := row(0, 64)
			h, err := newTestCache(t, 0).Source(&atOnce{array: a, answers: answers}).Hold(bs,
				HoldOptions{BatchSize: 1, Ahead: true})
			if err != nil {
				t.Fatal(err)
			}
			expect("at first", first)
			var group sync.WaitGroup
			for range 3 {
				group.Go(func() { checkHold(t, h, a, bs) })
			}
			expect("for a user", cores)
			close(gate)
			group.Wait()
			h.Close()
		})
	}
}

// Blocks that were never written are nil. A hold may have no blocks.
func TestHoldAbsent(t *testing.T) {
	a := newArray(1, volume.Vec{8, 1, 1}, 64)
	src := newTestCache(t, 1<<20).Source(absentArray{a})
	h := newHold(t, src, row(0, 8), 3, Always)
	if err := h.Wait(t.Context(), 0, 7); err != nil {
		t.Error(err)
	}
	for i := range 8 {
		if h.Voxels()[i] != nil {
			t.Errorf("block %d is not nil", i)
		}
	}
	h.Close()
	newHold(t, src, nil, 3, Always).Close()
}

// A reader waits only for its own blocks. A damaged block fails only its own batch.
func TestHoldWaits(t *testing.T) {
	for name, end := range map[string]func() error{
		"error":  func() error { return errors.New("damaged") },
		"panic":  func() error { panic("ouch") },
		"Goexit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const size = 4
				bs := row(0, 40)
				open := make([]chan bool, 10)
				for i := range open {
					open[i] = make(chan bool)
				}
				a := newArray(1, volume.Vec{40, 1, 1}, 5000)
				a.wait = func(_ context.Context, b volume.Vec) error {
					<-open[b[0]/size]
					if b[0]%(4*size) == 2 { // in batches 0, 4, 8
						return end()
					}
					return nil
				}
				h := newHold(t, newTestCache(t, 0).Source(a), bs, size, Never)
				ctx, cancel := context.WithCancel(t.Context())
				all := make(chan error)
				go func() { all <- h.Wait(ctx, 0, 39) }()
				synctest.Wait()
				cancel()
				if err := <-all; err != context.Canceled {
					t.Errorf("%v, expected %v", err, context.Canceled)
				}
				for i := range open {
					if !h.InUse() {
						t.Error("the hold is not in use while it is loaded")
					}
					close(open[i])
					err := h.Wait(t.Context(), i*size, i*size+size-1)
					if (i%4 == 0) != (err != nil) {
						t.Errorf("batch %d: %v", i, err)
					}
					for n := i * size; err == nil && n < i*size+size; n++ {
						if !bytes.Equal(h.Voxels()[n], a.content(bs[n])) {
							t.Errorf("block %d: wrong bytes", n)
						}
					}
				}
				if err := h.Wait(t.Context(), 7, 16); err == nil {
					t.Error("Wait succeeded, though one of the blocks is damaged")
				}
				synctest.Wait()
				if h.InUse() {
					t.Error("the hold is in use after it was loaded")
				}
				h.Close()
			})
		})
	}
}

// The memory of a hold is freed when its last user releases it, in any order of users.
func TestHoldUsers(t *testing.T) {
	for first := range 3 {
		synctest.Test(t, func(t *testing.T) {
			a := newArray(1, volume.Vec{8, 1, 1}, 5000)
			c := newTestCache(t, 0)
			h := newHold(t, c.Source(a), row(0, 8), 3, Never)
			h.Acquire()
			h.Acquire()
			ends := []func(){h.Close, h.Release, h.Release}
			for i := range ends {
				checkHold(t, h, a, row(0, 8))
				ends[(first+i)%3]()
			}
			synctest.Wait()
			if got := lent(c); got != 0 {
				t.Errorf("%d bytes are lent after the last user", got)
			}
		})
	}
}

// Two holds and several readers together load each block once.
func TestHoldsShare(t *testing.T) {
	withGate(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		bs := slices.Collect(allBlocks(a))
		one := newHold(t, src, bs, 3, Never)
		two := newHold(t, src, bs[2:], 2, Always)
		synctest.Wait()
		readers := make([]<-chan answer, len(bs))
		for i, b := range bs {
			readers[i] = readBlock(t.Context(), src, b)
		}
		synctest.Wait()
		close(g.open)
		checkHold(t, one, a, bs)
		one.Close()
		checkHold(t, two, a, bs[2:])
		two.Close()
		for i, b := range bs {
			if got := <-readers[i]; got.err != nil || !bytes.Equal(got.data, a.content(b)) {
				t.Errorf("block %v: wrong bytes, %v", b, got.err)
			}
		}
		if got := a.total(); got != len(bs) {
			t.Errorf("%d loads of %d blocks", got, len(bs))
		}
	})
}
