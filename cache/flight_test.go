package cache

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/volume"
)

// heavyArray is an array that takes memory to decode a block.
type heavyArray struct {
	*array
	work int
}

func (a heavyArray) WorkMemory(volume.Grid) int { return a.work }

// small are limits of some hundred bytes.
var small = limits{load: 100, own: 100, round: 350, blocks: 4, inFlight: 1000, span: 4096, history: 1}

// What decoding takes counts in flight. Large blocks also take what holds cannot reserve of the budget, and others do
// not. A block that is larger than both is loaded alone.
func TestWorkInFlight(t *testing.T) {
	for _, tt := range []struct {
		name       string
		budget     int64
		size, work int
		held       bool
		want       int
	}{
		{"voxels", 0, 300, 0, false, 3},
		{"voxels, with a budget", 4000, 300, 0, false, 3},
		{"work", 0, 300, 100, false, 2},
		{"large blocks with a budget", 800, 300, 100, false, 3},
		{"large blocks with a large budget", 2000, 300, 100, false, 4},
		{"larger than what is in flight", 0, 300, 5000, false, 1},
		{"larger than both", 800, 300, 5000, false, 1},
		{"larger than what is in flight, with a budget", 6000, 300, 1100, false, 2},
		{"work of a hold", 0, 300, 400, true, 2},
		{"work of a hold, with a budget", 800, 300, 400, true, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			running, most := 0, 0
			finish := make(chan bool)
			a := heavyArray{newArray(1, volume.Vec{9, 1, 1}, tt.size), tt.work}
			a.wait = func(context.Context, volume.Vec) error {
				a.mu.Lock()
				running++
				most = max(most, running)
				a.mu.Unlock()
				<-finish
				a.mu.Lock()
				running--
				a.mu.Unlock()
				return nil
			}
			c := newCache(tt.budget, small)
			src := c.Source(a)
			done := make(chan error)
			for b := range allBlocks(a.array) {
				go func() {
					if !tt.held {
						_, err := src.Block(t.Context(), b)
						done <- err
						return
					}
					h, err := src.Hold([]volume.Vec{b}, HoldOptions{BatchSize: 1})
					if err == nil {
						err = h.WaitAll(t.Context())
						h.Release()
					}
					done <- err
				}()
			}
			synctest.Wait()
			if running != tt.want {
				t.Errorf("%s: %d loads in flight, expected %d", tt.name, running, tt.want)
			}
			close(finish)
			for range 9 {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			c.Close()
			checkEmpty(t, c)
		})
	}
}

// A large block evicts blocks while it is loaded, and is kept afterwards. A canceled request gives back what it has
// taken.
func TestLargeBlockEvicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const budget = 20_000
		c := newCache(budget, small)
		defer func() { c.Close(); checkEmpty(t, c) }()
		usual := newArray(1, volume.Vec{100, 1, 1}, 300)
		for b := range allBlocks(usual) {
			checkBlock(t, c.Source(usual), usual, b)
		}
		full := c.Stats().HeldBytes
		finish := make(chan bool)
		a := heavyArray{newArray(2, volume.Vec{2, 1, 1}, 7000), 7000}
		a.wait = func(context.Context, volume.Vec) error { <-finish; return nil }
		src := c.Source(a)
		ctx, cancel := context.WithCancel(t.Context())
		first, second := readBlock(t.Context(), src, volume.Vec{}), readBlock(ctx, src, volume.Vec{1, 0, 0})
		synctest.Wait()
		if held := c.Stats().HeldBytes; held > full-2000 || c.budget.borrowed < 10_000 {
			t.Errorf("%d of %d bytes are kept, %d borrowed", held, full, c.budget.borrowed)
		}
		cancel()
		if got := <-second; !errors.Is(got.err, context.Canceled) {
			t.Errorf("%v, expected %v", got.err, context.Canceled)
		}
		close(finish)
		if got := <-first; got.err != nil {
			t.Error(got.err)
		}
		synctest.Wait()
		checkBlock(t, src, a.array, volume.Vec{})
		if a.loads[volume.Vec{}] != 1 || c.budget.borrowed != 0 {
			t.Errorf("the block was loaded %d times, %d bytes are borrowed", a.loads[volume.Vec{}], c.budget.borrowed)
		}
	})
}
