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

// TestReadTogether: each block is loaded and used once, in batches, for sources that answer at once and others.
func TestReadTogether(t *testing.T) {
	for _, answers := range []bool{true, false} {
		for _, batch := range []int{1, 3, 17, 40} {
			a := &atOnce{array: newArray(4, volume.Vec{17, 1, 1}, 4096), answers: answers}
			var mu sync.Mutex
			used := map[volume.Vec]int{}
			err := newTestCache(t, 1<<20).Source(a).ReadTogether(t.Context(), slices.Collect(allBlocks(a.array)), batch,
				IfSeen, func(at volume.Vec, voxels []byte) {
					mu.Lock()
					defer mu.Unlock()
					used[at]++
					if !bytes.Equal(voxels, a.content(at)) {
						t.Errorf("block %v is wrong", at)
					}
				})
			fills := int(a.own.Load() + a.others.Load())
			if err != nil || len(used) != 17 || a.total() != 17 || fills != (17+batch-1)/batch {
				t.Errorf("batches of %d: %d blocks used, %d loaded by %d calls, %v", batch, len(used), a.total(), fills,
					err)
			}
		}
	}
}

// TestReadTogetherFails: an error of one block is that of the whole, also if the source ends the goroutine of a batch.
func TestReadTogetherFails(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error":  func() error { return errFault },
		"panic":  func() error { panic(errFault) },
		"goexit": func() error { runtime.Goexit(); return nil },
	} {
		for _, answers := range []bool{true, false} {
			a := &atOnce{array: newArray(4, volume.Vec{9, 1, 1}, 4096), answers: answers}
			a.wait = func(_ context.Context, at volume.Vec) error {
				if at[0] == 5 {
					return fail()
				}
				return nil
			}
			src := newTestCache(t, 1<<20).Source(a)
			result := make(chan error, 1)
			go func() { // of the reader, which the source may end, too
				err := errGoexit
				defer func() { result <- err }()
				err = src.ReadTogether(t.Context(), row(0, 9), 2, IfSeen, func(volume.Vec, []byte) {})
			}()
			if err := <-result; err == nil {
				t.Errorf("%s, %v: no error", name, answers)
			}
		}
	}
}

// TestReadTogetherCanceled: a reader that is canceled does not wait for a source that hangs, and gets no block later.
func TestReadTogetherCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArray(4, volume.Vec{9, 1, 1}, 4096)
		hang := make(chan struct{})
		a.wait = func(context.Context, volume.Vec) error { <-hang; return nil }
		ctx, cancel := context.WithCancel(t.Context())
		src := newTestCache(t, 1<<20).Source(a)
		var returned atomic.Bool
		result := make(chan error)
		go func() {
			result <- src.ReadTogether(ctx, row(0, 9), 2, IfSeen, func(volume.Vec, []byte) {
				if returned.Load() {
					t.Error("a block is used after the return")
				}
			})
		}()
		synctest.Wait()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		returned.Store(true)
		close(hang)
	})
}
