package cache

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/volume"
)

// Blocks of a hold outlive the cache, and later requests find them. Nothing else is loaded.
func TestHoldOutlivesCache(t *testing.T) {
	a := newArray(1, volume.Vec{8, 1, 1}, 5000)
	c := New(1 << 20)
	src := c.Source(a)
	h := newHold(t, src, row(0, 6), 4, Always)
	checkHold(t, h, a, row(0, 6))
	c.Close()
	checkHold(t, h, a, row(0, 6))
	checkBlocks(t, src, a, row(0, 6))
	if err := <-readBlocks(t.Context(), src, row(0, 8)); err != ErrClosed {
		t.Errorf("%v, expected %v", err, ErrClosed)
	}
	if _, err := src.Hold(row(0, 6), HoldOptions{BatchSize: 4, Keep: Always}); err != ErrClosed {
		t.Errorf("%v, expected %v", err, ErrClosed)
	}
	if c.Reserve(1) {
		t.Error("a closed cache reserved a byte")
	}
	h.Close()
	checkEmpty(t, c)
	if err := <-readBlocks(t.Context(), src, row(0, 6)); err != ErrClosed {
		t.Errorf("%v, expected %v", err, ErrClosed)
	}
}

// Close waits for the batches that are being loaded. Later batches fail.
func TestCloseDuringHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bs := row(0, 4*cores)
		a := newArray(1, volume.Vec{len(bs), 1, 1}, 5000)
		open := make(chan bool)
		a.wait = func(context.Context, volume.Vec) error { <-open; return nil }
		c := newTestCache(t, 1<<20)
		h := newHold(t, c.Source(a), bs, 1, Always)
		synctest.Wait()
		closed := make(chan struct{})
		go func() { c.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("closed during a load")
		default:
		}
		close(open)
		<-closed
		checkHold(t, h, a, bs[:cores])
		if err := h.Wait(t.Context(), cores, len(bs)-1); err != ErrClosed {
			t.Errorf("%v, expected %v", err, ErrClosed)
		}
		h.Close()
	})
}

// Several goroutines close the cache while others read, hold and reserve.
func TestCloseDuringEverything(t *testing.T) {
	for range 5 {
		a := newArray(1, volume.Vec{100, 1, 1}, 5000)
		a.wait = func(_ context.Context, b volume.Vec) error {
			if b[0] == 50 {
				return errors.New("damaged")
			}
			return nil
		}
		c := New(20 * 8192)
		src := c.Source(a)
		var wg, started sync.WaitGroup
		repeat := func(work func(i int) error) {
			started.Add(1)
			wg.Go(func() {
				for i := 0; ; i++ {
					runtime.Gosched()
					err := work(i % 40)
					if i == 10 {
						started.Done()
					}
					if err != nil && i > 10 {
						return
					}
				}
			})
		}
		for range 2 {
			repeat(func(i int) error {
				err := <-readBlocks(context.Background(), src, row(i, i+10))
				if err != nil && err != ErrClosed {
					t.Error(err)
				}
				return err
			})
			repeat(func(i int) error {
				h, err := src.Hold(row(i, i+30), HoldOptions{BatchSize: 7, Keep: IfSeen})
				if err == nil {
					h.Close()
				}
				return err
			})
			repeat(func(i int) error {
				if c.Reserve(10 * 8192) {
					c.Unreserve(10 * 8192)
					return nil
				}
				c.Stats()
				return ErrClosed
			})
		}
		started.Wait()
		for range 2 {
			wg.Go(c.Close)
		}
		wg.Wait()
		checkEmpty(t, c)
	}
}

// Readers read blocks in memory until the cache is closed.
func TestClose(t *testing.T) {
	c := newTestCache(t, 1<<20)
	a := newArray(1, volume.Cube(4), 64)
	src := c.Source(a)
	var started, wg sync.WaitGroup
	for range 4 {
		started.Add(1)
		wg.Go(func() {
			checkBlock(t, src, a, volume.Vec{})
			started.Done()
			for {
				for b := range allBlocks(a) {
					data, err := src.Block(context.Background(), b)
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil || !bytes.Equal(data, a.content(b)) {
						t.Errorf("block %v: wrong bytes, %v", b, err)
					}
				}
			}
		})
	}
	started.Wait()
	c.Close()
	wg.Wait()
	c.Close()
	if held := c.Stats().HeldBytes; held != 0 {
		t.Errorf("%d bytes held after Close", held)
	}
}

// Close waits for a load in flight. Its reader still gets the block.
func TestCloseWaits(t *testing.T) {
	withGate(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		reader := readBlock(t.Context(), src, volume.Vec{})
		synctest.Wait()
		closed := make(chan struct{})
		go func() { c.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("closed during a load")
		default:
		}
		if _, err := src.Block(t.Context(), volume.Vec{1, 0, 0}); err != ErrClosed {
			t.Errorf("%v, expected %v", err, ErrClosed)
		}
		g.open <- nil
		if got := <-reader; got.err != nil {
			t.Error(got.err)
		}
		<-closed
	})
}
