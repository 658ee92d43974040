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

// What is held outlives the cache, also for new readers. Nothing is loaded any more.
func TestHoldOutlivesCache(t *testing.T) {
	a := newArray(1, volume.Vec{8, 1, 1}, 5000)
	c := New(1 << 20)
	src := c.Source(a)
	h := newHold(t, src, row(0, 6), 4, Always)
	checkHold(t, h, a, row(0, 6))
	c.Close()
	checkHold(t, h, a, row(0, 6))
	checkBlocks(t, src, a, row(0, 6))
	if err := <-readAt(t.Context(), src, row(0, 8)); err != ErrClosed {
		t.Errorf("%v, expected %v", err, ErrClosed)
	}
	if _, err := src.Hold(row(0, 6), 4, Always); err != ErrClosed {
		t.Errorf("%v, expected %v", err, ErrClosed)
	}
	if c.Reserve(1) {
		t.Error("a byte of a closed cache is reserved")
	}
	h.Close()
	checkEmpty(t, c)
	if err := <-readAt(t.Context(), src, row(0, 6)); err != ErrClosed {
		t.Errorf("%v, expected %v", err, ErrClosed)
	}
}

// Close waits for the batches that are being loaded. Those that are not yet begun fail.
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

// Everything may go on while the cache is closed, by several at once.
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
		var wg, begun sync.WaitGroup
		forever := func(work func(i int) error) {
			begun.Add(1)
			wg.Go(func() {
				for i := 0; ; i++ {
					runtime.Gosched()
					err := work(i % 40)
					if i == 10 {
						begun.Done()
					}
					if err != nil && i > 10 {
						return
					}
				}
			})
		}
		for range 2 {
			forever(func(i int) error {
				err := <-readAt(context.Background(), src, row(i, i+10))
				if err != nil && err != ErrClosed {
					t.Error(err)
				}
				return err
			})
			forever(func(i int) error {
				h, err := src.Hold(row(i, i+30), 7, IfSeen)
				if err == nil {
					h.Close()
				}
				return err
			})
			forever(func(i int) error {
				if c.Reserve(10 * 8192) {
					c.Unreserve(10 * 8192)
					return nil
				}
				c.Stats()
				return ErrClosed
			})
		}
		begun.Wait()
		for range 2 {
			wg.Go(c.Close)
		}
		wg.Wait()
		checkEmpty(t, c)
	}
}

func TestClose(t *testing.T) {
	c := newTestCache(t, 1<<20)
	a := newArray(1, volume.Cube(4), 64)
	src := c.Source(a)
	var reading, wg sync.WaitGroup
	for range 4 {
		reading.Add(1)
		wg.Go(func() {
			check(t, src, a, volume.Vec{})
			reading.Done()
			for {
				for b := range all(a) {
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
	reading.Wait()
	c.Close()
	wg.Wait()
	c.Close()
	if held := c.Stats().HeldBytes; held != 0 {
		t.Errorf("%d bytes held after Close", held)
	}
}

// Close waits for the load under way, whose reader still gets the block.
func TestCloseWaits(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		reader := read(t.Context(), src, volume.Vec{})
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
