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

// When a reader of several blocks is canceled, loads that another reader waits for go on, and other loads are canceled.
func TestCanceledReaderOfSeveralBlocks(t *testing.T) {
	withGate(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		ctx, cancel := context.WithCancel(t.Context())
		canceled := readBlocks(ctx, src, row(0, 2))
		synctest.Wait()
		other := readBlock(t.Context(), src, volume.Vec{1, 0, 0})
		synctest.Wait()
		cancel()
		if err := <-canceled; !errors.Is(err, context.Canceled) {
			t.Errorf("%v, expected %v", err, context.Canceled)
		}
		synctest.Wait()
		if g.canceled.Load() != 0 {
			t.Error("a load was canceled although a reader waits for it")
		}
		g.open <- nil
		g.open <- nil
		if got := <-other; got.err != nil || !bytes.Equal(got.data, a.content(volume.Vec{1, 0, 0})) {
			t.Errorf("the other reader: wrong bytes, %v", got.err)
		}

		ctx, cancel = context.WithCancel(t.Context())
		canceled = readBlocks(ctx, src, []volume.Vec{{0, 1, 0}, {1, 1, 0}})
		synctest.Wait()
		cancel()
		<-canceled
		synctest.Wait()
		if g.canceled.Load() != 2 {
			t.Errorf("%d blocks canceled, expected 2", g.canceled.Load())
		}
		if held := c.Stats().HeldBytes; held != 2*(64+overhead) {
			t.Errorf("%d bytes held, expected the bytes of 2 blocks", held)
		}
	})
}

// The blocks of an abandoned load are not kept.
func TestAbandonedLoadIsNotKept(t *testing.T) {
	withGate(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		a.wait = func(context.Context, volume.Vec) error { return <-g.open }
		ctx, cancel := context.WithCancel(t.Context())
		canceled := readBlock(ctx, src, volume.Vec{})
		synctest.Wait()
		cancel()
		<-canceled
		other := readBlock(t.Context(), src, volume.Vec{})
		synctest.Wait()
		g.open <- nil // the abandoned load
		synctest.Wait()
		g.open <- nil
		if got := <-other; got.err != nil || !bytes.Equal(got.data, a.content(volume.Vec{})) {
			t.Errorf("wrong bytes, %v", got.err)
		}
		checkBlock(t, src, a, volume.Vec{})
		if held := c.Stats().HeldBytes; a.total() != 2 || held != 64+overhead {
			t.Errorf("%d loads and %d bytes held, expected 2 and the bytes of a block", a.total(), held)
		}
	})
}

// A use function that panics or ends its goroutine leaks nothing, whether the block was in memory or was loaded.
func TestUseThatDoesNotReturn(t *testing.T) {
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

// When the first reader is canceled, the others still get the block from its load.
func TestLoadOutlivesFirstReader(t *testing.T) {
	withGate(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		ctx, cancel := context.WithCancel(t.Context())
		first := readBlock(ctx, src, volume.Vec{})
		synctest.Wait()
		second := readBlock(t.Context(), src, volume.Vec{})
		synctest.Wait()
		cancel()
		if got := <-first; !errors.Is(got.err, context.Canceled) {
			t.Errorf("first reader: %v, expected %v", got.err, context.Canceled)
		}
		g.open <- nil
		if got := <-second; got.err != nil {
			t.Errorf("second reader: %v", got.err)
		}
		if a.total() != 1 || g.canceled.Load() != 0 {
			t.Errorf("%d loads, %d canceled; expected 1, 0", a.total(), g.canceled.Load())
		}
	})
}

// When all readers are canceled, the load is canceled. The next reader starts a new load.
func TestLoadEndsWithLastReader(t *testing.T) {
	withGate(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first, second := readBlock(ctx, src, volume.Vec{}), readBlock(ctx, src, volume.Vec{})
		for _, r := range []<-chan answer{first, second} {
			if got := <-r; !errors.Is(got.err, context.DeadlineExceeded) {
				t.Errorf("%v, expected %v", got.err, context.DeadlineExceeded)
			}
		}
		third := readBlock(t.Context(), src, volume.Vec{})
		synctest.Wait()
		if g.canceled.Load() != 1 {
			t.Errorf("%d loads canceled, expected 1", g.canceled.Load())
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

// A request whose context is already done starts no load, but still returns blocks in memory.
func TestCanceledContext(t *testing.T) {
	a := newArray(1, volume.Cube(1), 64)
	src := newTestCache(t, 1<<20).Source(a)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := src.Block(ctx, volume.Vec{}); !errors.Is(err, context.Canceled) || a.total() != 0 {
		t.Errorf("%v after %d loads, expected %v after none", err, a.total(), context.Canceled)
	}
	checkBlock(t, src, a, volume.Vec{})
	if got, err := src.Block(ctx, volume.Vec{}); err != nil || !bytes.Equal(got, a.content(volume.Vec{})) {
		t.Errorf("wrong bytes of a kept block, %v", err)
	}
}
