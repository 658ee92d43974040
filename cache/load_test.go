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

// answer is what a reader got.
type answer struct {
	data []byte
	err  error
}

// read reads block b in a goroutine of its own.
func read(ctx context.Context, src *Source, b volume.Vec) <-chan answer {
	ch := make(chan answer, 1)
	go func() {
		data, err := src.Block(ctx, b)
		ch <- answer{data, err}
	}()
	return ch
}

// gate lets loads wait for a word from the test, or for the end of their context.
type gate struct {
	open    chan error
	givenUp atomic.Int32
}

func (g *gate) wait(ctx context.Context, _ volume.Vec) error {
	select {
	case err := <-g.open:
		return err
	case <-ctx.Done():
		g.givenUp.Add(1)
		return ctx.Err()
	}
}

// gated runs f in a bubble with an array of 8 blocks whose loads wait at the gate.
func gated(t *testing.T, f func(t *testing.T, c *Cache, src *Source, a *array, g *gate)) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan error)}
		a := newArray(1, volume.Cube(2), 64)
		a.wait = g.wait
		c := newTestCache(t, 1<<20)
		f(t, c, c.Source(a), a, g)
	})
}

func TestReadersShareALoad(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		var readers []<-chan answer
		for range 10 {
			readers = append(readers, read(t.Context(), src, volume.Vec{}))
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

func TestErrorsReachAllAndAreNotKept(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
		damaged := errors.New("damaged")
		first, second := read(t.Context(), src, volume.Vec{}), read(t.Context(), src, volume.Vec{})
		synctest.Wait()
		g.open <- damaged
		for _, r := range []<-chan answer{first, second} {
			if got := <-r; got.err != damaged || got.data != nil {
				t.Errorf("%d bytes, %v; expected none, %v", len(got.data), got.err, damaged)
			}
		}
		third := read(t.Context(), src, volume.Vec{})
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

// A reader leaves and closes his file while another one, of the same version of the
// same file, waits for the load from it: that one gets the block from his own.
func TestErrorOfAnotherSource(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, _ *Source, closing *array, g *gate) {
		open := newArray(1, volume.Cube(2), 64)
		ctx, cancel := context.WithCancel(t.Context())
		first := read(ctx, c.Source(fileArray{closing, vfs.Version{1}}), volume.Vec{})
		synctest.Wait()
		second := read(t.Context(), c.Source(fileArray{open, vfs.Version{1}}), volume.Vec{})
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

// A load that panics, or ends its goroutine, is an error like others.
func TestLoadThatDoesNotReturn(t *testing.T) {
	for name, end := range map[string]func(){
		"panic: index out of range":                     func() { panic("index out of range") },
		"the source ended the goroutine that called it": runtime.Goexit,
	} {
		gated(t, func(t *testing.T, c *Cache, src *Source, a *array, g *gate) {
			broken := true
			a.wait = func(ctx context.Context, b volume.Vec) error {
				err := g.wait(ctx, b)
				if broken {
					end()
				}
				return err
			}
			at := volume.Vec{1, 0, 1}
			first, second := read(t.Context(), src, at), read(t.Context(), src, at)
			synctest.Wait()
			g.open <- nil
			for _, r := range []<-chan answer{first, second} {
				if got := <-r; got.err == nil || !strings.HasPrefix(got.err.Error(), "block 1,0,1: "+name) {
					t.Errorf("%v, expected %s", got.err, name)
				}
			}
			synctest.Wait()
			broken = false
			third := read(t.Context(), src, at)
			synctest.Wait()
			g.open <- nil
			if got := <-third; got.err != nil {
				t.Errorf("after %s: %v", name, got.err)
			}
		})
	}
}
