package cache

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// A reader of several blocks leaves: what another one waits for is loaded, and what nobody
// waits for is given up.
func TestReaderOfSeveralBlocksLeaves(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		ctx, cancel := context.WithCancel(t.Context())
		left := readAt(ctx, src, row(0, 2))
		synctest.Wait()
		stays := read(t.Context(), src, volume.Vec{1, 0, 0})
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("%v, expected %v", err, context.Canceled)
		}
		synctest.Wait()
		if g.givenUp.Load() != 0 {
			t.Error("a load was given up that somebody waits for")
		}
		g.open <- nil
		g.open <- nil
		if got := <-stays; got.err != nil || !bytes.Equal(got.data, a.content(volume.Vec{1, 0, 0})) {
			t.Errorf("the reader that stayed: wrong bytes, %v", got.err)
		}

		ctx, cancel = context.WithCancel(t.Context())
		left = readAt(ctx, src, []volume.Vec{{0, 1, 0}, {1, 1, 0}})
		synctest.Wait()
		cancel()
		<-left
		synctest.Wait()
		if g.givenUp.Load() != 2 {
			t.Errorf("%d blocks given up, expected 2", g.givenUp.Load())
		}
		if held := c.Stats().HeldBytes; held != 2*(64+overhead) {
			t.Errorf("%d bytes held, expected those of 2 blocks", held)
		}
	})
}

// What a load brings that was given up is not kept.
func TestTooLate(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		a.wait = func(context.Context, volume.Vec) error { return <-g.open }
		ctx, cancel := context.WithCancel(t.Context())
		left := read(ctx, src, volume.Vec{})
		synctest.Wait()
		cancel()
		<-left
		stays := read(t.Context(), src, volume.Vec{})
		synctest.Wait()
		g.open <- nil // the load that was given up
		synctest.Wait()
		g.open <- nil
		if got := <-stays; got.err != nil || !bytes.Equal(got.data, a.content(volume.Vec{})) {
			t.Errorf("wrong bytes, %v", got.err)
		}
		check(t, src, a, volume.Vec{})
		if held := c.Stats().HeldBytes; a.total() != 2 || held != 64+overhead {
			t.Errorf("%d loads and %d bytes held, expected 2 and those of a block", a.total(), held)
		}
	})
}

// A reader that panics or ends its goroutine leaves nothing behind, whether the block is in memory or was loaded.
func TestReaderThatDoesNotReturn(t *testing.T) {
	for _, end := range []func(){func() { panic("ouch") }, runtime.Goexit} {
		a := newArray(1, volume.Vec{50, 1, 1}, 32<<10)
		src := newTestCache(t, 100<<20).Source(a)
		checkBlocks(t, src, a, row(0, 10))
		for _, bs := range [][]volume.Vec{row(0, 10), row(5, 40), row(30, 50)} {
			done := make(chan bool)
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				src.Read(context.Background(), bs, Always, func(volume.Vec, []byte) { end() })
			}()
			<-done
		}
		checkBlocks(t, src, a, row(0, 50))
	}
}

// The first reader leaves; the others still get the block from its load.
func TestLoadOutlivesItsFirstReader(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		ctx, cancel := context.WithCancel(t.Context())
		first := read(ctx, src, volume.Vec{})
		synctest.Wait()
		second := read(t.Context(), src, volume.Vec{})
		synctest.Wait()
		cancel()
		if got := <-first; !errors.Is(got.err, context.Canceled) {
			t.Errorf("first reader: %v, expected %v", got.err, context.Canceled)
		}
		g.open <- nil
		if got := <-second; got.err != nil {
			t.Errorf("second reader: %v", got.err)
		}
		if a.total() != 1 || g.givenUp.Load() != 0 {
			t.Errorf("%d loads, %d given up; expected 1, 0", a.total(), g.givenUp.Load())
		}
	})
}

// When all readers have left, the load is given up, and the next reader gets a new one.
func TestLoadEndsWithItsLastReader(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first, second := read(ctx, src, volume.Vec{}), read(ctx, src, volume.Vec{})
		for _, r := range []<-chan answer{first, second} {
			if got := <-r; !errors.Is(got.err, context.DeadlineExceeded) {
				t.Errorf("%v, expected %v", got.err, context.DeadlineExceeded)
			}
		}
		third := read(t.Context(), src, volume.Vec{})
		synctest.Wait()
		if g.givenUp.Load() != 1 {
			t.Errorf("%d loads given up, expected 1", g.givenUp.Load())
		}
		g.open <- nil
		if got := <-third; got.err != nil {
			t.Errorf("third reader: %v", got.err)
		}
		if a.total() != 2 {
			t.Errorf("%d loads, expected 2", a.total())
		}
	})
}

// A reader that gives up before it asks starts nothing, but gets what is kept.
func TestDeadContext(t *testing.T) {
	a := newArray(1, volume.Cube(1), 64)
	src := newTestCache(t, 1<<20).Source(a)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := src.Block(ctx, volume.Vec{}); !errors.Is(err, context.Canceled) || a.total() != 0 {
		t.Errorf("%v after %d loads, expected %v after none", err, a.total(), context.Canceled)
	}
	check(t, src, a, volume.Vec{})
	if got, err := src.Block(ctx, volume.Vec{}); err != nil || !bytes.Equal(got, a.content(volume.Vec{})) {
		t.Errorf("wrong bytes of a block that is kept, %v", err)
	}
}
