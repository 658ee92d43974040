package cache

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// The bytes of loads in flight are bounded. Readers that wait can be canceled.
func TestLoadsInFlight(t *testing.T) {
	for _, tt := range []struct{ size, want int }{
		{maxInFlight / 4, 4},
		{maxInFlight, 1},
		{maxInFlight + 1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			running, most := 0, 0
			a := newArray(1, volume.Vec{9, 1, 1}, tt.size)
			finish := make(chan error)
			a.wait = func(ctx context.Context, b volume.Vec) error {
				a.mu.Lock()
				running++
				most = max(most, running)
				a.mu.Unlock()
				err := <-finish
				a.mu.Lock()
				running--
				a.mu.Unlock()
				return err
			}
			c := newTestCache(t, 0)
			src := c.Source(a)
			ctx, cancel := context.WithCancel(t.Context())
			var readers []<-chan answer
			for b := range allBlocks(a) {
				readers = append(readers, readBlock(ctx, src, b))
			}
			synctest.Wait()
			if running != tt.want {
				t.Errorf("blocks of %d bytes: %d loads in flight, expected %d", tt.size, running, tt.want)
			}
			cancel()
			for _, r := range readers {
				if got := <-r; !errors.Is(got.err, context.Canceled) {
					t.Errorf("%v, expected %v", got.err, context.Canceled)
				}
			}
			finish <- errors.New("too late")
			close(finish)
			synctest.Wait()
			if most != tt.want || a.total() != tt.want {
				t.Errorf("blocks of %d bytes: at most %d loads in flight and %d in all, expected %d", tt.size, most,
					a.total(), tt.want)
			}
		})
	}
}

// Memory in flight is bounded, even if readers use blocks slowly and if blocks take more memory than they have bytes.
func TestMemoryInFlight(t *testing.T) {
	for _, size := range []int{4097, 256 << 10} {
		synctest.Test(t, func(t *testing.T) {
			const each = 64
			c := newTestCache(t, 0)
			src := c.Source(blankSource{newArray(1, volume.Vec{150 * each, 1, 1}, size).grid})
			resume := make(chan bool)
			var readers sync.WaitGroup
			for i := range 150 {
				readers.Go(func() {
					err := src.Read(t.Context(), row(i*each, (i+1)*each), Always, func(volume.Vec, []byte) { <-resume })
					if err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
			if got := lent(c); got > maxInFlight || got < maxInFlight/2 {
				t.Errorf("blocks of %d bytes: %d bytes in flight, expected a little less than %d", size, got,
					maxInFlight)
			}
			close(resume)
			readers.Wait()
		})
	}
}

// slowArray is an array whose answers have a speed.
type slowArray struct {
	*array
	speed vfs.Speed
}

func (a slowArray) Speed() vfs.Speed { return a.speed }

// Loads from a slow source are bounded. From a source whose requests should be long, twice as many are in flight, and
// half as many if the source has their bytes in memory twice.
func TestLateLoads(t *testing.T) {
	for _, tt := range []struct {
		speed vfs.Speed
		want  int
	}{
		{vfs.Speed{Late: true}, maxLateLoads}, {vfs.Speed{Late: true, Doubled: true}, maxLateLoads / 2},
		{vfs.Speed{Late: true, Long: 1 << 20}, maxLongLoads},
		{vfs.Speed{Late: true, Long: 1 << 20, Doubled: true}, maxLongLoads / 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			running, most := 0, 0
			a := newArray(1, volume.Vec{maxLongLoads + 9, 1, 1}, 32<<10)
			finish := make(chan bool)
			a.wait = func(context.Context, volume.Vec) error {
				a.mu.Lock()
				running++
				most = max(most, running)
				a.mu.Unlock()
				<-finish
				return nil
			}
			src := newTestCache(t, 1<<30).Source(slowArray{a, tt.speed})
			var readers []<-chan answer
			for b := range allBlocks(a) {
				readers = append(readers, readBlock(t.Context(), src, b))
			}
			synctest.Wait()
			if most != tt.want {
				t.Errorf("%+v: %d loads in flight, expected %d", tt.speed, most, tt.want)
			}
			close(finish)
			for _, r := range readers {
				if got := <-r; got.err != nil {
					t.Error(got.err)
				}
			}
		})
	}
}
