package diskcache

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// TestPanics: a panic in a request is the error of all its readers, and no reader waits forever. A panic of what writes
// stores less. Afterwards reads work, and all memory of requests is given back.
func TestPanics(t *testing.T) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	defer guard.LogTo(nil)
	source := func(fake *fakeBucket, nth int32, passed *atomic.Int32) { // a panic of the source
		fake.onRead = func(context.Context, span) error {
			if passed.Add(1) == nth {
				panic("in Read")
			}
			return nil
		}
	}
	for _, place := range []string{"diskcache.flight", "diskcache.writer", "diskcache.stop", "source"} {
		for nth := range int32(3) {
			t.Run(fmt.Sprint(place, nth), func(t *testing.T) {
				o := object.Object{Key: "k", Size: 3 << 20, Version: "1"}
				fake := newFakeBucket(o)
				c := openCache(t, t.TempDir(), Options{})
				b := c.Bucket(fake)
				var passed atomic.Int32
				defer guard.Inject(func(p string) {
					if p == place && passed.Add(1) == nth+1 {
						panic("injected")
					}
				})()
				if place == "source" {
					source(fake, nth+1, &passed)
				}
				before := guard.Count()
				var failed atomic.Int32
				readOften(t, b, o, &failed)
				if failed.Load() > 0 && place != "diskcache.flight" && place != "source" {
					t.Errorf("%d reads failed", failed.Load())
				}
				c.writer.mu.Lock()
				c.writer.resume = time.Time{} // after an error, nothing is written for a while
				c.writer.mu.Unlock()
				waitWritten(c)
				check(t, b, o, 0, o.Size)
				waitWritten(c)
				c.Close()
				if once := place == "diskcache.stop" || place == "diskcache.writer"; passed.Load() <= nth &&
					(nth == 0 || !once) {
					t.Errorf("passed %d times", passed.Load())
				}
				for limit := time.Now().Add(time.Minute); passed.Load() > nth && guard.Count() == before &&
					time.Now().Before(limit); {
					runtime.Gosched() // a panic is counted after the deferred calls, one of which lets Close return
				}
				if passed.Load() > nth && guard.Count() != before+1 {
					t.Errorf("%d panics", guard.Count()-before)
				}
				all := c.options.Pending + requestMemory
				if !c.memory.bytes.TryAcquire(all) || len(c.flights.of) > 0 {
					t.Errorf("memory of requests was not given back, %d units are in flight", len(c.flights.of))
				}
				select {
				case <-c.writer.ended:
				default:
					t.Error("the writer has not ended")
				}
			})
		}
	}
}

// readOften lets many readers read an object, several of them the same parts at a time. A read has the right bytes, or
// fails with a panic.
func readOften(t *testing.T, b object.Bucket, o object.Object, failed *atomic.Int32) {
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			for off := int64(0); off < o.Size; off += 300 << 10 {
				got := make([]byte, min(200<<10, o.Size-off))
				want := make([]byte, len(got))
				contentOf(o, want, off)
				switch err := b.Read(t.Context(), o, got, off); {
				case guard.Is(err):
					failed.Add(1)
				case err != nil:
					t.Errorf("reader %d: %v", i, err)
				case !bytes.Equal(got, want):
					t.Errorf("reader %d: wrong bytes at %d", i, off)
				}
			}
		})
	}
	readers.Wait()
}
