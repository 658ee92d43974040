package cache

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// answer is the result of a read.
type answer struct {
	data []byte
	err  error
}

// readBlock reads block b in a new goroutine.
func readBlock(ctx context.Context, src *Source, b volume.Vec) <-chan answer {
	ch := make(chan answer, 1)
	go func() {
		data, err := src.Block(ctx, b)
		ch <- answer{data, err}
	}()
	return ch
}

// gate makes loads wait until the test sends their result, or until their context is done.
type gate struct {
	open     chan error
	canceled atomic.Int32
}

func (g *gate) wait(ctx context.Context, _ volume.Vec) error {
	select {
	case err := <-g.open:
		return err
	case <-ctx.Done():
		g.canceled.Add(1)
		return ctx.Err()
	}
}

// withGate runs f in a synctest bubble with an array of 8 blocks whose loads wait at a gate.
func withGate(t *testing.T, f func(t *testing.T, c *Cache, src *Source, a *array, g *gate)) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan error)}
		a := newArray(1, volume.Cube(2), 64)
		a.wait = g.wait
		c := newTestCache(t, 1<<20)
		f(t, c, c.Source(a), a, g)
	})
}

// Readers of the same block share one load.
func TestReadersShareALoad(t *testing.T) {
	withGate(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		var readers []<-chan answer
		for range 10 {
			readers = append(readers, readBlock(t.Context(), src, volume.Vec{}))
		}
		synctest.Wait()
		g.open <- nil
		for i, r := range readers {
			if got := <-r; got.err != nil || !bytes.Equal(got.data, a.content(volume.Vec{})) {
				t.Errorf("reader %d: wrong bytes, %v", i, got.err)
			}
		}
		if st := c.Stats(); st.Loads != 1 || st.Shared != 9 {
			t.Errorf("%+v, expected 1 load shared by 9 others", st)
		}
	})
}

// All waiting readers get the error of a load. The next reader loads the block again.
func TestErrors(t *testing.T) {
	withGate(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		damaged := errors.New("damaged")
		first, second := readBlock(t.Context(), src, volume.Vec{}), readBlock(t.Context(), src, volume.Vec{})
		synctest.Wait()
		g.open <- damaged
		for _, r := range []<-chan answer{first, second} {
			if got := <-r; got.err != damaged || got.data != nil {
				t.Errorf("%d bytes, %v; expected none, %v", len(got.data), got.err, damaged)
			}
		}
		third := readBlock(t.Context(), src, volume.Vec{})
		synctest.Wait()
		g.open <- nil
		if got := <-third; got.err != nil {
			t.Errorf("after the error: %v", got.err)
		}
		if st := c.Stats(); st.Loads != 2 || st.Failures != 1 {
			t.Errorf("%+v, expected 2 loads, 1 failure", st)
		}
	})
}

// A reader is canceled and closes its file, while a reader of another source of the same version waits for its load.
// The other reader then loads the block from its own source.
func TestErrorOfOtherSource(t *testing.T) {
	withGate(t, func(t *testing.T, c *Cache, _ *Source, closing *array, g *gate) {
		open := newArray(1, volume.Cube(2), 64)
		ctx, cancel := context.WithCancel(t.Context())
		first := readBlock(ctx, c.Source(versionedArray{closing, vfs.Version{1}}), volume.Vec{})
		synctest.Wait()
		second := readBlock(t.Context(), c.Source(versionedArray{open, vfs.Version{1}}), volume.Vec{})
		synctest.Wait()
		cancel()
		if got := <-first; !errors.Is(got.err, context.Canceled) {
			t.Errorf("first reader: %v, expected %v", got.err, context.Canceled)
		}
		g.open <- fs.ErrClosed
		if got := <-second; got.err != nil || !bytes.Equal(got.data, open.content(volume.Vec{})) {
			t.Errorf("second reader: wrong bytes, %v", got.err)
		}
		if closing.total() != 1 || open.total() != 1 {
			t.Errorf("%d and %d loads, expected one of each", closing.total(), open.total())
		}
	})
}

// If Fill panics or ends its goroutine, the read fails.
func TestFillDoesNotReturn(t *testing.T) {
	for name, end := range map[string]func(){
		"panic in cache.load: index out of range":       func() { panic("index out of range") },
		"the source ended the goroutine that called it": runtime.Goexit,
	} {
		withGate(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
			broken := true
			a.wait = func(ctx context.Context, b volume.Vec) error {
				err := g.wait(ctx, b)
				if broken {
					end()
				}
				return err
			}
			at := volume.Vec{1, 0, 1}
			first, second := readBlock(t.Context(), src, at), readBlock(t.Context(), src, at)
			synctest.Wait()
			g.open <- nil
			for _, r := range []<-chan answer{first, second} {
				if got := <-r; got.err == nil || !strings.HasPrefix(got.err.Error(), "block 1,0,1: "+name) {
					t.Errorf("%v, expected %s", got.err, name)
				}
			}
			synctest.Wait()
			broken = false
			third := readBlock(t.Context(), src, at)
			synctest.Wait()
			g.open <- nil
			if got := <-third; got.err != nil {
				t.Errorf("after %s: %v", name, got.err)
			}
		})
	}
}
