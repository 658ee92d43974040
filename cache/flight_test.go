package cache

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// answer is what a reader got.
type answer struct {
	data []byte
	err  error
}

// read reads block b in a goroutine of its own.
func read(ctx context.Context, src volume.Source, b volume.Vec) <-chan answer {
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
	givenUp int
}

func (g *gate) wait(ctx context.Context, _ volume.Vec) error {
	select {
	case err := <-g.open:
		return err
	case <-ctx.Done():
		g.givenUp++
		return ctx.Err()
	}
}

// gated runs f in a bubble with an array of 8 blocks whose loads wait at the gate.
func gated(t *testing.T, f func(t *testing.T, c *Cache, src volume.Source, a *array, g *gate)) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan error)}
		a := newArray(1, volume.Cube(2), 64)
		a.wait = g.wait
		c := New(1 << 20)
		defer c.Close()
		f(t, c, c.Wrap(a), a, g)
	})
}

func TestReadersShareALoad(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, src volume.Source, a *array, g *gate) {
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

// The reader who came first leaves; the others still get the block from its load.
func TestLoadOutlivesItsFirstReader(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, src volume.Source, a *array, g *gate) {
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
		if a.total() != 1 || g.givenUp != 0 {
			t.Errorf("%d loads, %d given up; expected 1, 0", a.total(), g.givenUp)
		}
	})
}

// When all readers have left, the load is given up, and who comes later gets a new one.
func TestLoadEndsWithItsLastReader(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, src volume.Source, a *array, g *gate) {
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
		if g.givenUp != 1 {
			t.Errorf("%d loads given up, expected 1", g.givenUp)
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

// A reader who gives up before he asks starts nothing, but gets what is kept.
func TestDeadContext(t *testing.T) {
	a := newArray(1, volume.Cube(1), 64)
	src := newTestCache(t, 1<<20).Wrap(a)
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

func TestErrorsReachAllAndAreNotKept(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, src volume.Source, a *array, g *gate) {
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
	gated(t, func(t *testing.T, c *Cache, _ volume.Source, closing *array, g *gate) {
		open := newArray(1, volume.Cube(2), 64)
		ctx, cancel := context.WithCancel(t.Context())
		first := read(ctx, c.Wrap(fileArray{closing, vfs.Version{1}}), volume.Vec{})
		synctest.Wait()
		second := read(t.Context(), c.Wrap(fileArray{open, vfs.Version{1}}), volume.Vec{})
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
		"panic: index out of range":    func() { panic("index out of range") },
		"the load ended its goroutine": runtime.Goexit,
	} {
		gated(t, func(t *testing.T, c *Cache, src volume.Source, a *array, g *gate) {
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

// Loads at once: as many as there are CPUs, or fewer where blocks are large. Readers
// who wait for a place can leave.
func TestLoadsAtOnce(t *testing.T) {
	for _, tt := range []struct{ size, want int }{
		{64, runtime.NumCPU()},
		{inFlight, 1},
		{inFlight + 1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			running, most := 0, 0
			a := newArray(1, volume.Vec{2*runtime.NumCPU() + 1, 1, 1}, tt.size)
			hold := make(chan error)
			a.wait = func(ctx context.Context, b volume.Vec) error {
				a.mu.Lock()
				running++
				most = max(most, running)
				a.mu.Unlock()
				err := <-hold
				a.mu.Lock()
				running--
				a.mu.Unlock()
				return err
			}
			c := New(0)
			defer c.Close()
			src := c.Wrap(a)
			ctx, cancel := context.WithCancel(t.Context())
			var readers []<-chan answer
			for b := range all(a) {
				readers = append(readers, read(ctx, src, b))
			}
			synctest.Wait()
			if running != tt.want {
				t.Errorf("blocks of %d bytes: %d loads at once, expected %d", tt.size, running, tt.want)
			}
			cancel()
			for _, r := range readers {
				if got := <-r; !errors.Is(got.err, context.Canceled) {
					t.Errorf("%v, expected %v", got.err, context.Canceled)
				}
			}
			close(hold)
			synctest.Wait()
			if most != tt.want || a.total() != tt.want {
				t.Errorf("blocks of %d bytes: at most %d loads at once and %d in all, expected %d", tt.size, most, a.total(), tt.want)
			}
		})
	}
}

// Close waits for the load under way, whose reader still gets the block.
func TestCloseWaits(t *testing.T) {
	gated(t, func(t *testing.T, c *Cache, src volume.Source, a *array, g *gate) {
		reader := read(t.Context(), src, volume.Vec{})
		synctest.Wait()
		closed := make(chan struct{})
		go func() { c.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("closed during a load")
		default:
		}
		if _, err := src.Block(t.Context(), volume.Vec{1, 0, 0}); err != ErrClosed {
			t.Errorf("%v, expected %v", err, ErrClosed)
		}
		g.open <- nil
		if got := <-reader; got.err != nil {
			t.Error(got.err)
		}
		<-closed
	})
}
