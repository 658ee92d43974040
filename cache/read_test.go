package cache

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/volume"
)

// readBlocks reads blocks with one request in a new goroutine.
func readBlocks(ctx context.Context, src *Source, bs []volume.Vec) <-chan error {
	ch := make(chan error, 1)
	go func() { ch <- src.Read(ctx, bs, Always, func(volume.Vec, []byte) {}) }()
	return ch
}

// checkBlocks reads blocks with one request, and compares them with the array. Each must be used as often as it is in
// the list.
func checkBlocks(t *testing.T, src *Source, a *array, bs []volume.Vec) {
	t.Helper()
	used := map[volume.Vec]int{}
	err := src.Read(t.Context(), bs, Always, func(b volume.Vec, block []byte) {
		used[b]++
		if !bytes.Equal(block, a.content(b)) {
			t.Errorf("block %v: wrong bytes", b)
		}
	})
	if err != nil {
		t.Error(err)
	}
	for _, b := range bs {
		used[b]--
	}
	for b, n := range used {
		if n != 0 {
			t.Errorf("block %v was used %d times too often", b, n)
		}
	}
}

// A load contains neighbouring missing blocks, up to loadBytes.
func TestLoadSize(t *testing.T) {
	const size = loadBytes / 4
	a := newArray(1, volume.Vec{20, 1, 1}, size)
	src := newTestCache(t, 100<<20).Source(a)
	checkBlocks(t, src, a, row(2, 5))
	checkBlocks(t, src, a, row(0, 15))
	checkBlocks(t, src, a, row(0, 15))
	checkBlocks(t, src, a, nil)
	checkBlocks(t, src, a, append(row(14, 18), row(14, 18)...))
	slices.SortFunc(a.fills, func(p, q []volume.Vec) int { return p[0][0] - q[0][0] })
	want := [][]volume.Vec{append(row(0, 2), row(5, 7)...), row(2, 5), row(7, 11), row(11, 15), row(15, 18)}
	if !slices.EqualFunc(a.fills, want, slices.Equal) {
		t.Errorf("loads %v, expected %v", a.fills, want)
	}
	if err := <-readBlocks(t.Context(), src, row(19, 21)); err == nil ||
		!strings.Contains(err.Error(), "block 20,0,0") {
		t.Errorf("%v for a block outside of the grid", err)
	}
}

// Many small blocks take several loads, and many large blocks take several rounds.
func TestNumberOfLoads(t *testing.T) {
	for _, tt := range []struct{ size, blocks, fills int }{
		{1, 5000, 79},
		{loadBytes / 4, 300, 75},
		{5 << 20, 3, 3},
	} {
		a := newArray(1, volume.Vec{tt.blocks, 1, 1}, tt.size)
		src := newTestCache(t, 0).Source(a)
		checkBlocks(t, src, a, row(0, tt.blocks))
		if len(a.fills) != tt.fills || a.total() != tt.blocks {
			t.Errorf("%d loads of %d blocks of %d bytes, expected %d of %d", len(a.fills), a.total(), tt.size, tt.fills,
				tt.blocks)
		}
	}
}

// If one block of a load is damaged, readers of the other blocks get them.
func TestDamagedBlock(t *testing.T) {
	withGate(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		damaged, bad := errors.New("damaged"), volume.Vec{1, 0, 0}
		a.wait = func(ctx context.Context, b volume.Vec) error {
			if err := g.wait(ctx, b); err != nil || b != bad {
				return err
			}
			return damaged
		}
		whole := readBlocks(t.Context(), src, slices.Collect(allBlocks(a)))
		synctest.Wait()
		sound, wrong := readBlock(t.Context(), src, volume.Vec{1, 1, 1}), readBlock(t.Context(), src, bad)
		synctest.Wait()
		close(g.open)
		if got := <-sound; got.err != nil || !bytes.Equal(got.data, a.content(volume.Vec{1, 1, 1})) {
			t.Errorf("an undamaged block: wrong bytes, %v", got.err)
		}
		for _, err := range []error{<-whole, (<-wrong).err} {
			if err != damaged {
				t.Errorf("%v, expected %v", err, damaged)
			}
		}
		if st := c.Stats(); st.Failures != 1 || st.Loads != 8 || st.LoadedBytes != 7*64 {
			t.Errorf("%+v, expected 8 loads with one failure", st)
		}
	})
}

// If Fill panics or ends its goroutine, all blocks of the load fail, and no others.
func TestFillOfManyLoadsDoesNotReturn(t *testing.T) {
	for name, end := range map[string]func(){
		"panic in cache.load: ouch":      func() { panic("ouch") },
		"the source ended the goroutine": runtime.Goexit,
	} {
		synctest.Test(t, func(t *testing.T) {
			const size, together, loads = loadBytes / 4, 4, 16
			broken := func(i int) bool { return i/together%2 == 0 }
			start := make(chan bool)
			a := newArray(1, volume.Vec{together * loads, 1, 1}, size)
			a.wait = func(_ context.Context, b volume.Vec) error {
				<-start
				if broken(b[0]) && b[0]%together == 2 {
					end()
				}
				return nil
			}
			src := newTestCache(t, 100<<20).Source(a)
			whole := readBlocks(t.Context(), src, row(0, together*loads))
			synctest.Wait()
			readers := make([]<-chan answer, together*loads)
			for i := range readers {
				readers[i] = readBlock(t.Context(), src, volume.Vec{i, 0, 0})
			}
			synctest.Wait()
			close(start)
			if err := <-whole; err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v, expected %s", err, name)
			}
			for i, r := range readers {
				got := <-r
				if broken(i) != (got.err != nil) ||
					got.err == nil && !bytes.Equal(got.data, a.content(volume.Vec{i, 0, 0})) {
					t.Errorf("block %d: wrong bytes, %v", i, got.err)
				}
			}
			if got := a.total(); got != (loads/2)*together+(loads/2)*3 {
				t.Errorf("%d blocks requested", got)
			}
		})
	}
}
