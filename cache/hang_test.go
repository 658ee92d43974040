package cache

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// While loads and Resolve of a source wait for a lock, blocks in memory are still read at once.
func TestHitsDoNotWaitForSource(t *testing.T) {
	const files, hanging = 40, 8
	versions := make([]byte, files)
	for i := range versions {
		versions[i] = byte(i + 1)
	}
	k := newKeyed(32<<10, versions...)
	var lock sync.Mutex
	var stuck atomic.Int32
	var locking atomic.Bool
	k.wait = func(_ context.Context, at volume.Vec) error {
		if locking.Load() {
			stuck.Add(1)
			lock.Lock()
			defer lock.Unlock()
		}
		return nil
	}
	k.resolve = func(ctx context.Context, file int) error { return k.wait(ctx, volume.Vec{}) }
	c := newTestCache(t, int64(files*blocksPerFile)*(32<<10+overhead)*5/4)
	src := c.Source(k)
	checkKeyed(t, src, k, 0, 20*blocksPerFile)

	// Four of the files are resolved but not loaded, and four are not resolved.
	for file := range 4 {
		if err := k.Resolve(t.Context(), volume.Vec{(20 + file) * blocksPerFile, 0, 0}); err != nil {
			t.Fatal(err)
		}
	}
	locking.Store(true)
	lock.Lock()
	ctx, cancel := context.WithCancel(t.Context())
	var readers []<-chan error
	for i := range hanging {
		readers = append(readers, readBlocks(ctx, src, row((20+i)*blocksPerFile-2, (21+i)*blocksPerFile)))
	}
	for end := time.Now().Add(time.Minute); stuck.Load() < hanging; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d files wait for the lock after a minute", stuck.Load(), hanging)
		}
	}

	done := make(chan bool)
	go func() {
		defer close(done)
		for range 10 {
			checkKeyed(t, src, k, 0, 20*blocksPerFile)
			h := newHold(t, src, row(0, 20*blocksPerFile), 7, Always)
			if err := h.Wait(t.Context(), 0, 20*blocksPerFile-1); err != nil {
				t.Error(err)
			}
			h.Close()
			if c.Reserve(1) {
				c.Unreserve(1)
			}
			c.Stats()
		}
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Error("hits wait for the source")
	}
	cancel()
	for _, r := range readers {
		if err := <-r; !errors.Is(err, context.Canceled) {
			t.Errorf("%v, expected %v", err, context.Canceled)
		}
	}
	lock.Unlock()
	<-done
}

// Closing a hold abandons the loads that no other request waits for.
func TestHoldClosedWhileLoading(t *testing.T) {
	for _, wait := range []bool{false, true} {
		withGate(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
			bs := slices.Collect(allBlocks(a))
			h := newHold(t, src, bs, 2, Never)
			h.Acquire()
			synctest.Wait()
			started := a.total()
			var reader <-chan answer
			if wait {
				reader = readBlock(t.Context(), src, bs[1])
				synctest.Wait()
			}
			h.Close()
			synctest.Wait()
			if err := h.Wait(t.Context(), 0, 7); err != context.Canceled {
				t.Errorf("%v, expected %v", err, context.Canceled)
			}
			h.Release()
			if !wait {
				if int(g.canceled.Load()) < started || a.total() > 2*started || lent(c) != 0 {
					t.Errorf("%d blocks were requested and %d canceled; %d bytes are lent", a.total(),
						g.canceled.Load(), lent(c))
				}
				return
			}
			close(g.open)
			if got := <-reader; got.err != nil || !bytes.Equal(got.data, a.content(bs[1])) {
				t.Errorf("a reader of a block of the hold: wrong bytes, %v", got.err)
			}
		})
	}
}

// Readers and holds can be canceled while Resolve hangs. Close waits for Resolve.
func TestResolveHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan bool)
		c := newTestCache(t, 1<<20)
		k := newKeyed(5000, 1, 2, 3)
		k.resolve = func(_ context.Context, file int) error {
			if file == 1 {
				<-hang
			}
			return nil
		}
		src := c.Source(k)
		checkKeyed(t, src, k, 0, 4)
		ctx, cancel := context.WithCancel(t.Context())
		canceled := readBlocks(ctx, src, row(0, 12))
		h := newHold(t, src, row(0, 12), 4, Never)
		h.Acquire()
		synctest.Wait()
		checkKeyed(t, src, k, 0, 4)
		checkKeyed(t, src, k, 8, 12)
		cancel()
		if err := <-canceled; err != context.Canceled {
			t.Errorf("%v, expected %v", err, context.Canceled)
		}
		h.Close()
		if err := h.Wait(t.Context(), 4, 7); err != context.Canceled {
			t.Errorf("%v, expected %v", err, context.Canceled)
		}
		h.Release()
		synctest.Wait()
		if h.InUse() {
			t.Error("a closed hold is in use")
		}
		closed := make(chan bool)
		go func() { c.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("closed while Resolve hangs")
		default:
		}
		close(hang)
		<-closed
	})
}
