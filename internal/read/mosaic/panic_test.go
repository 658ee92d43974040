package mosaic

import (
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

func TestMain(m *testing.M) {
	guard.LogTo(slog.New(slog.DiscardHandler)) // tests panic
	os.Exit(m.Run())
}

// inject makes the next goroutine that passes a place panic. injected reports whether one did.
func inject(t *testing.T, at string) (injected func() bool) {
	var done atomic.Bool
	t.Cleanup(guard.Inject(func(place string) {
		if place == at && !done.Swap(true) {
			panic("injected")
		}
	}))
	return done.Load
}

// tenCubes is a mag of 10 cubes of a voxel, in one row.
type tenCubes struct {
	oneCube
	late bool
	open *atomic.Int32
}

func (tenCubes) Bounds() (volume.Box, error) { return volume.Box{Max: volume.Vec{10, 1, 1}}, nil }

func (tenCubes) Cubes(zy ...int) ([]int, error) {
	if len(zy) < 2 {
		return []int{0}, nil
	}
	return []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, nil
}

func (w tenCubes) Speed() vfs.Speed { return vfs.Speed{Late: w.late} }

func (w tenCubes) OpenCube(volume.Vec) (volume.CubeFile, error) {
	w.open.Add(1)
	return counted{open: w.open}, nil
}

// counted is a cube that counts how many of its kind are open.
type counted struct {
	seven
	open *atomic.Int32
}

func (c counted) Close() error {
	c.open.Add(-1)
	return nil
}

// TestPanics: a panic while a cube is opened or read is an error of its blocks, and of no others.
func TestPanics(t *testing.T) {
	for _, place := range []string{"mosaic.open", "mosaic.fill"} {
		for _, late := range []bool{false, true} {
			open := new(atomic.Int32)
			m, err := New(tenCubes{late: late, open: open}, false)
			if err != nil {
				t.Fatal(err)
			}
			injected := inject(t, place)
			var mu sync.Mutex
			failed, readers := map[volume.Vec]bool{}, sync.WaitGroup{}
			read := func() {
				blocks := make([]volume.Block, 10)
				for i := range blocks {
					blocks[i].At = volume.Vec{9 - i}
				}
				m.Fill(t.Context(), blocks, func(volume.Vec) []byte { return make([]byte, 1) })
				var seen []int
				for _, b := range blocks {
					seen = append(seen, b.At[0])
					switch {
					case guard.Is(b.Err) && b.Voxels == nil:
						mu.Lock()
						failed[b.At] = true
						mu.Unlock()
					case b.Err != nil || len(b.Voxels) != 1 || b.Voxels[0] != 7:
						t.Errorf("%s: block %v: %v, %v", place, b.At, b.Voxels, b.Err)
					}
				}
				if slices.Sort(seen); !slices.Equal(seen, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
					t.Errorf("%s: the blocks are %v", place, seen)
				}
			}
			for range 4 {
				readers.Go(read)
			}
			readers.Wait()
			if !injected() || len(failed) != 1 {
				t.Errorf("%s, late %v: blocks of %d cubes failed", place, late, len(failed))
			}
			clear(failed)
			if read(); len(failed) > 0 {
				t.Errorf("%s, late %v: %v fails after the panic", place, late, failed)
			}
			if m.CloseIdle(); open.Load() != 0 || len(m.handles) != 0 {
				t.Errorf("%s, late %v: %d cubes are open, %d handles", place, late, open.Load(), len(m.handles))
			}
		}
	}
}

// TestBackgroundPanics: a panic of the timer that closes cubes, or of a survey in the background, locks nothing.
func TestBackgroundPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := new(atomic.Int32)
		m, err := New(tenCubes{open: open}, false)
		if err != nil {
			t.Fatal(err)
		}
		injected := inject(t, "mosaic.idle")
		m.Open()
		if _, err := volume.ReadBlock(t.Context(), m, volume.Vec{}); err != nil {
			t.Fatal(err)
		}
		m.Close()
		time.Sleep(2 * idleTimeout)
		m.Open()
		defer m.Close()
		if !injected() || open.Load() != 0 {
			t.Errorf("%d cubes are open", open.Load())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p := newPlaneMag(20)
		p.late.Store(true)
		m, err := New(p, true)
		if err != nil {
			t.Fatal(err)
		}
		injected := inject(t, "mosaic.survey")
		p.set(3, 3, 2)
		time.Sleep(ttl.Least * 3 / 4)
		if !m.Current(p.box(0, 0, 20)) {
			t.Error("the old survey does not count")
		}
		synctest.Wait()
		time.Sleep(ttl.Least)
		if m.Current(p.box(0, 0, 20)) || !injected() {
			t.Error("a later survey does not show the change")
		}
	})
}

// brokenRows is a mag whose rows are listed without panic only some times.
type brokenRows struct {
	rowsMag
	listings *atomic.Int32
}

func (m brokenRows) Cubes(zy ...int) ([]int, error) {
	if m.listings.Add(-1) == 0 {
		panic("ouch")
	}
	return m.rowsMag.Cubes(zy...)
}

// TestHolesPanic: after a panic while rows are listed, nothing is a hole.
func TestHolesPanic(t *testing.T) {
	for n := range int32(5) {
		left := new(atomic.Int32)
		left.Store(n)
		i := cubeIndex{mag: brokenRows{rowsMag{zs: 3, ys: 2}, left}, most: usual.rows}
		err := guard.Do("test", func() error { i.load(); return nil })
		i.load()
		if _, more := i.zs.from(3); (err != nil) != (n > 0) || more != (n > 0) {
			t.Errorf("panic in listing %d: %v, more rows: %v", n, err, more)
		}
	}
}
