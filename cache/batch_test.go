package cache

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// batchArray is an array that reads several blocks at once.
type batchArray struct {
	*array
	batches [][]volume.Vec
	begin   func(bs []volume.Vec) // called before a batch is read
}

func (a *batchArray) Blocks(ctx context.Context, bs []volume.Vec, use func(volume.Vec, []byte)) error {
	a.mu.Lock()
	a.batches = append(a.batches, bs)
	a.mu.Unlock()
	if a.begin != nil {
		a.begin(bs)
	}
	for _, b := range bs {
		if block, err := a.array.Block(ctx, b); err != nil {
			return err
		} else {
			use(b, block)
		}
	}
	return nil
}

// row returns blocks from … to−1 of a row.
func row(from, to int) (bs []volume.Vec) {
	for x := from; x < to; x++ {
		bs = append(bs, volume.Vec{x, 0, 0})
	}
	return bs
}

// checkBlocks reads blocks at once and compares each with the array.
func checkBlocks(t *testing.T, src volume.Source, a *array, bs []volume.Vec) {
	t.Helper()
	shown := map[volume.Vec]int{}
	err := src.(volume.Batcher).Blocks(t.Context(), bs, func(b volume.Vec, block []byte) {
		shown[b]++
		if !bytes.Equal(block, a.content(b)) {
			t.Errorf("block %v: wrong bytes", b)
		}
	})
	if err != nil || len(shown) != len(bs) {
		t.Errorf("%d of %d blocks shown, %v", len(shown), len(bs), err)
	}
	for b, n := range shown {
		if n != 1 {
			t.Errorf("block %v was shown %d times", b, n)
		}
	}
}

// Only what is not kept is read, and that at once, but not too much of it.
func TestBlocksAreLoadedTogether(t *testing.T) {
	const size = maxTogether / 4
	a := &batchArray{array: newArray(1, volume.Vec{20, 1, 1}, size)}
	c := newTestCache(t, 100<<20)
	src := c.Wrap(a)
	checkBlocks(t, src, a.array, row(2, 5))
	checkBlocks(t, src, a.array, row(0, 15))
	checkBlocks(t, src, a.array, row(0, 15))
	checkBlocks(t, src, a.array, nil)
	if a.total() != 15 {
		t.Errorf("%d loads of 15 blocks", a.total())
	}
	if len(a.batches) != 1+3 {
		t.Errorf("batches %v, expected one of 3 blocks and 12 blocks in three", a.batches)
	}
	if err := src.(volume.Batcher).Blocks(t.Context(), row(19, 21), nil); err == nil || !strings.Contains(err.Error(), "block 20,0,0") {
		t.Errorf("%v for a block outside of the grid", err)
	}
}

// Sources that read block by block have each one loaded by itself.
func TestBlocksOfOtherSources(t *testing.T) {
	a := newArray(1, volume.Vec{20, 1, 1}, 64)
	checkBlocks(t, newTestCache(t, 1<<20).Wrap(a), a, row(0, 20))
	if a.total() != 20 {
		t.Errorf("%d loads of 20 blocks", a.total())
	}
}

// One block of a batch is damaged: who wants the others gets them.
func TestDamageIsOfOneBlock(t *testing.T) {
	damaged := errors.New("damaged")
	for name, fail := range map[string]func() error{
		"damaged":      func() error { return damaged },
		"panic: ouch":  func() error { panic("ouch") },
		"ended its go": func() error { runtime.Goexit(); return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			hold := make(chan bool)
			a := &batchArray{array: newArray(1, volume.Vec{8, 1, 1}, 64), begin: func([]volume.Vec) { <-hold }}
			bad := volume.Vec{3, 0, 0}
			a.wait = func(_ context.Context, b volume.Vec) error {
				if b == bad {
					return fail()
				}
				return nil
			}
			c := New(1 << 20)
			defer c.Close()
			src := c.Wrap(a)
			whole := make(chan error, 1)
			go func() { whole <- src.(volume.Batcher).Blocks(t.Context(), row(0, 8), func(volume.Vec, []byte) {}) }()
			synctest.Wait()
			sound, wrong := read(t.Context(), src, volume.Vec{1, 0, 0}), read(t.Context(), src, bad)
			synctest.Wait()
			close(hold)
			if got := <-sound; got.err != nil || !bytes.Equal(got.data, a.content(volume.Vec{1, 0, 0})) {
				t.Errorf("%s: a sound block: wrong bytes, %v", name, got.err)
			}
			for _, err := range []error{<-whole, (<-wrong).err} {
				if err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%v, expected %s", err, name)
				}
			}
			synctest.Wait()
			if st := c.Stats(); st.Failures == 0 || st.Loads-st.Failures < 3 || st.Loads > 8 {
				t.Errorf("%+v, expected three blocks and a failure, and the others if anybody waited for them", st)
			}
		})
	}
}

// A disk that takes its time to fail does so twice, and not for each block of a batch, also for
// the next reader.
func TestErrorsOfABatchDoNotAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := errors.New("input/output error")
		a := &batchArray{array: newArray(1, volume.Vec{8, 1, 1}, 64)}
		a.wait = func(_ context.Context, b volume.Vec) error {
			if b[0] == 0 {
				return nil
			}
			time.Sleep(time.Second) // of the bubble
			return fail
		}
		c := New(1 << 20)
		defer c.Close()
		begin := time.Now()
		err := c.Wrap(a).(volume.Batcher).Blocks(t.Context(), row(0, 8), func(volume.Vec, []byte) {})
		if took := time.Since(begin); err != fail || took > 2*time.Second {
			t.Errorf("%v after %v, expected %v after two seconds", err, took, fail)
		}
		time.Sleep(1500 * time.Millisecond) // of the bubble: for the block that was begun
		if !c.loader.places.TryAcquire(inFlight) {
			t.Error("a load goes on that nobody waits for")
		}
	})
}

// A reader of several blocks leaves: what another one waits for is loaded, and what nobody
// waits for is given up.
func TestReaderOfSeveralBlocksLeaves(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, _ volume.Source, a *array, g *gate) {
		src := c.Wrap(&batchArray{array: a})
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { left <- src.(volume.Batcher).Blocks(ctx, row(0, 2), func(volume.Vec, []byte) {}) }()
		synctest.Wait()
		stays := read(t.Context(), src, volume.Vec{1, 0, 0})
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("%v, expected %v", err, context.Canceled)
		}
		synctest.Wait()
		if g.givenUp != 0 {
			t.Error("a load was given up that somebody waits for")
		}
		g.open <- nil
		g.open <- nil
		if got := <-stays; got.err != nil || !bytes.Equal(got.data, a.content(volume.Vec{1, 0, 0})) {
			t.Errorf("the reader who stayed: wrong bytes, %v", got.err)
		}

		ctx, cancel = context.WithCancel(t.Context())
		bs := []volume.Vec{{0, 1, 0}, {1, 1, 0}}
		go func() { left <- src.(volume.Batcher).Blocks(ctx, bs, func(volume.Vec, []byte) {}) }()
		synctest.Wait()
		cancel()
		<-left
		synctest.Wait()
		if g.givenUp == 0 {
			t.Error("a load goes on that nobody waits for")
		}
	})
}
