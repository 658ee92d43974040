package prefetch

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// TestBoundsOfReads holds what is read at the ends of the array, and before and after it.
func TestBoundsOfReads(t *testing.T) {
	inScene(t, manyLayers, func(t *testing.T, s *scene) {
		r := s.all(Unknown)
		defer r.Close()
		size := r.Array().Size()
		for _, c := range []struct {
			off  int64
			n    int
			want int
			err  error
		}{{-1, 1, 0, fs.ErrInvalid}, {size, 1, 0, io.EOF}, {size + 1, 1, 0, io.EOF}, {size - 1, 2, 1, io.EOF}, {size - 1, 1, 1, nil}, {0, 0, 0, nil}} {
			if n, err := r.ReadAt(t.Context(), make([]byte, c.n), c.off); n != c.want || err != c.err {
				t.Errorf("%d bytes at %d: %d, %v, expected %d, %v", c.n, c.off, n, err, c.want, c.err)
			}
		}
	})
}

// TestStates goes along each edge between the states of a reader, and closes it in each state.
func TestStates(t *testing.T) {
	// s reads on, e reads elsewhere, o reads an array once; i is idle while another reader needs memory.
	for _, steps := range []string{"", "e", "s", "se", "ses", "sesei", "sei", "si", "sis", "o", "oe", "oi", "oio"} {
		t.Run(steps, func(t *testing.T) {
			inScene(t, oneReader, func(t *testing.T, s *scene) {
				r, at := s.all(Unknown), int64(0)
				box := volume.Box{Max: volume.Vec{512, 512, 16}}
				if len(steps) > 0 && steps[0] == 'o' {
					r = s.reader(box, Once)
				}
				defer func() { r.Close() }()
				for _, step := range steps {
					switch step {
					case 's':
						n := 4 * 64 * k
						if at > 0 { // it was elsewhere
							n = int(scenePlane + lookahead + 64*k)
						}
						s.read(r, at, int64(n))
						at += int64(n)
						s.is(r, sequential)
					case 'o':
						s.read(r, 0, 4*k)
						s.is(r, whole)
						s.loaded(2 * layerBlocks)
					case 'e':
						before := r.state
						s.read(r, min(28*scenePlane, r.array.Size()-4*k), 4*k)
						s.is(r, map[state]state{random: random, sequential: resting, whole: whole}[before])
					case 'i':
						synctest.Wait()
						before := r.state
						other := s.all(Unknown)
						time.Sleep(idleTime)
						s.read(other, 0, 4*64*k)
						s.is(other, random) // not more than a second
						s.is(r, before)
						time.Sleep(1)
						s.read(other, 4*64*k, 64*k)
						s.is(r, random)
						s.is(other, sequential)
						synctest.Wait()
						other.Close()
						s.is(other, random)
						synctest.Wait()
						s.loads.Store(0)
					}
				}
			})
		})
	}
}

// TestLoadsOfSequentialReader holds that each block is loaded once, the next layer in time, and none is kept.
func TestLoadsOfSequentialReader(t *testing.T) {
	for _, habit := range []Habit{Unknown, Ordered} {
		inScene(t, manyLayers, func(t *testing.T, s *scene) {
			r := s.all(habit)
			s.read(r, 0, 8*scenePlane)
			s.loaded(2 * layerBlocks)
			s.read(r, 8*scenePlane, 24*scenePlane)
			s.loaded(2 * layerBlocks)
			r.Close()
		})
	}
}

// TestReaderReturns has a reader look elsewhere and return: its slabs are still there.
func TestReaderReturns(t *testing.T) {
	inScene(t, manyLayers, func(t *testing.T, s *scene) {
		r := s.all(Unknown)
		defer r.Close()
		s.read(r, 0, 3*scenePlane)
		s.loaded(2 * layerBlocks)
		s.read(r, 28*scenePlane, 4*k)
		s.is(r, resting)
		s.loaded(8)
		s.read(r, 3*scenePlane, 5*scenePlane)
		s.is(r, sequential)
		s.loaded(0)
	})
}

// TestReadersShareSlabs has two readers of one array: each block is loaded once, though both have memory.
func TestReadersShareSlabs(t *testing.T) {
	inScene(t, 2*manyLayers, func(t *testing.T, s *scene) {
		a, b := s.all(Unknown), s.all(Unknown)
		for off := int64(0); off < 32*scenePlane; off += 64 * k {
			s.read(a, off, 64*k)
			synctest.Wait()
			s.read(b, off, 64*k)
		}
		s.is(a, sequential)
		s.is(b, sequential)
		s.loaded(4 * layerBlocks)
		a.Close()
		s.read(b, 30*scenePlane, 2*scenePlane)
		b.Close()
	})
}

// TestArraysShareBlocks has readers of other boxes of the same voxels: of the same blocks, of more and of some of them. All
// read the right bytes, and blocks that are in memory are not loaded again.
func TestArraysShareBlocks(t *testing.T) {
	for _, box := range []volume.Box{
		{Min: volume.Vec{1, 2, 3}, Max: volume.Vec{511, 510, 31}},
		{Min: volume.Vec{64, 0, 0}, Max: sceneSize},
		{Min: volume.Vec{0, 60, 4}, Max: volume.Vec{512, 300, 32}},
	} {
		inScene(t, 2*manyLayers, func(t *testing.T, s *scene) {
			a, b := s.all(Ordered), s.reader(box, Ordered)
			defer a.Close()
			defer b.Close()
			for z := range int64(32) {
				s.read(a, z*scenePlane, scenePlane)
				synctest.Wait()
				if z := z - int64(box.Min[2]); z >= 0 && z < int64(box.Size()[2]) {
					s.read(b, z*b.array.Plane(), b.array.Plane())
				}
			}
			s.loaded(4 * layerBlocks)
		})
	}
}

// TestRefusedSink has a sink that wants nothing. Slabs of whole layers are as good without; parts are given up.
func TestRefusedSink(t *testing.T) {
	for budget, want := range map[int64]int{manyLayers: 4 * layerBlocks, noLayers: 32 * layerBlocks} {
		inScene(t, budget, func(t *testing.T, s *scene) {
			r := s.all(Unknown)
			r.Push(vfs.Sink{All: true, Page: 4 * k, Piece: 256 * k, Ahead: lookahead, Write: func([]byte, int64) bool { return false }})
			s.read(r, 0, 32*scenePlane)
			synctest.Wait()
			if got := int(s.loads.Load()); got < 4*layerBlocks || got > want {
				t.Errorf("%d blocks loaded, expected %d to %d", got, 4*layerBlocks, want)
			}
			s.is(r, map[int64]state{manyLayers: sequential, noLayers: random}[budget])
			r.Close()
		})
	}
}

// TestPatience holds that a read does not wait for a sink that waits for it.
func TestPatience(t *testing.T) {
	inScene(t, noLayers, func(t *testing.T, s *scene) {
		r := s.all(Unknown)
		stuck := make(chan struct{})
		r.Push(vfs.Sink{All: true, Page: 4 * k, Piece: 256 * k, Ahead: lookahead, Write: func([]byte, int64) bool { <-stuck; return true }})
		s.read(r, 0, scenePlane)
		s.is(r, sequential)
		start := time.Now()
		for at := 8 * scenePlane; at < 9*scenePlane; at += 64 * k {
			s.read(r, at, 64*k)
		}
		if waited := time.Since(start); waited < patience || waited > 4*patience {
			t.Errorf("a plane took %v, expected each of four reads to wait for %v at most", waited, patience)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.ReadAt(ctx, make([]byte, 64*k), 16*scenePlane); !errors.Is(err, context.Canceled) {
			t.Errorf("a read that is given up: %v", err)
		}
		close(stuck)
		r.Close()
	})
}

// TestCloseWhilePushing holds that Close waits for the sink, and for no more than what it has just got.
func TestCloseWhilePushing(t *testing.T) {
	for _, budget := range []int64{manyLayers, noLayers} {
		inScene(t, budget, func(t *testing.T, s *scene) {
			r := s.all(Unknown)
			var mu sync.Mutex
			under, writes := 0, 0
			r.Push(vfs.Sink{All: true, Page: 4 * k, Piece: 256 * k, Write: func([]byte, int64) bool {
				mu.Lock()
				under++
				writes++
				mu.Unlock()
				time.Sleep(time.Hour)
				mu.Lock()
				under--
				mu.Unlock()
				return true
			}})
			s.read(r, 0, 4*64*k)
			synctest.Wait()
			r.Close()
			if under != 0 || writes == 0 || writes > maxPushers {
				t.Errorf("%d writes, %d of them still under way", writes, under)
			}
		})
	}
}

// TestCloseWhileDecoding holds that Close does not wait for a source that hangs, and that its memory is free when that answers.
func TestCloseWhileDecoding(t *testing.T) {
	for _, habit := range []Habit{Unknown, Ordered, Once} {
		inScene(t, manyLayers, func(t *testing.T, s *scene) {
			r := s.reader(volume.Box{Max: volume.Vec{512, 512, 32}}, habit)
			s.gate = make(chan struct{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := r.ReadAt(ctx, make([]byte, 256*k), 0); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a read of a source that hangs: %v", err)
			}
			start := time.Now()
			r.Close()
			if time.Since(start) > 0 {
				t.Error("Close has waited")
			}
			close(s.gate)
		})
	}
}

// TestCacheClosed has a cache closed under readers: they get what is in slabs, and otherwise its error.
func TestCacheClosed(t *testing.T) {
	inScene(t, manyLayers, func(t *testing.T, s *scene) {
		r := s.all(Ordered)
		defer r.Close()
		s.read(r, 0, 3*scenePlane)
		synctest.Wait()
		s.cache.Close()
		s.read(r, 3*scenePlane, 5*scenePlane)
		s.read(r, 8*scenePlane, 8*scenePlane) // the next layer
		if _, err := r.ReadAt(t.Context(), make([]byte, 4*k), 16*scenePlane); !errors.Is(err, cache.ErrClosed) {
			t.Errorf("a read that needs a block loaded: %v", err)
		}
		s.budget = 0 // there is none any more
	})
}

// TestDamagedSlab holds that only reads of a damaged block fail, with its error.
func TestDamagedSlab(t *testing.T) {
	for _, budget := range []int64{manyLayers, noLayers} {
		for _, habit := range []Habit{Unknown, Ordered, Once} {
			inScene(t, budget, func(t *testing.T, s *scene) {
				s.damaged = volume.Vec{3, 2, 1}
				r := s.all(habit)
				defer r.Close()
				for off := int64(0); off < 32*scenePlane; off += 32 * k { // a row of blocks
					y, z := r.array.RowAt(off)
					bad := y/64 == 2 && z/8 == 1
					if _, err := r.ReadAt(t.Context(), make([]byte, 32*k), off); errors.Is(err, errDamaged) != bad || !bad && err != nil {
						t.Fatalf("rows %d of plane %d: %v", y, z, err)
					}
				}
			})
		}
	}
}

// TestWhole holds that a small array that is read once is decoded at once, in any order of reads, and a large one is not.
func TestWhole(t *testing.T) {
	inScene(t, manyLayers, func(t *testing.T, s *scene) {
		r := s.reader(volume.Box{Min: volume.Vec{60, 60, 6}, Max: volume.Vec{200, 200, 20}}, Once)
		for off := r.array.Size() - 100; off >= 0; off -= 9973 {
			s.read(r, off, 100)
			s.is(r, whole)
		}
		s.loaded(4 * 4 * 3)
		r.Close()
		s.is(r, random)

		if r = s.all(Once); newLayout(r.array).whole().slabBytes() > maxWhole {
			t.Fatal("the scene is not small")
		}
		r.Close()
	})
	inScene(t, 1<<20, func(t *testing.T, s *scene) { // no room
		r := s.reader(volume.Box{Max: volume.Vec{512, 512, 8}}, Once)
		s.read(r, 0, 4*k)
		s.is(r, random)
		r.Close()
	})
}

// TestSinglePlane holds that nothing is decoded ahead where no block is needed twice.
func TestSinglePlane(t *testing.T) {
	inScene(t, manyLayers, func(t *testing.T, s *scene) {
		r := s.reader(volume.Box{Max: volume.Vec{512, 512, 1}}, Unknown)
		s.read(r, 0, scenePlane)
		s.is(r, random)
		s.loaded(layerBlocks)
		r.Close()
	})
}

// TestTooMuchForAnybody has a reader need more memory than there is: one that is idle keeps its slabs.
func TestTooMuchForAnybody(t *testing.T) {
	inScene(t, noLayers, func(t *testing.T, s *scene) {
		idle, large := s.reader(volume.Box{Max: volume.Vec{256, 256, 32}}, Unknown), s.all(Unknown)
		s.read(idle, 0, 256*k)
		s.is(idle, sequential)
		synctest.Wait()
		time.Sleep(2 * idleTime)
		s.read(large, 0, 256*k)
		s.is(large, random)
		s.is(idle, sequential)
		idle.Close()
		large.Close()
	})
}

// TestManyReaders reads with many goroutines of each kind of reader, with and without sinks.
func TestManyReaders(t *testing.T) {
	for _, budget := range []int64{noLayers, oneReader, 2 * manyLayers} {
		inScene(t, budget, func(t *testing.T, s *scene) {
			var group sync.WaitGroup
			for i := range 6 {
				r := s.all([]Habit{Unknown, Unknown, Ordered, Once, Unknown, Unknown}[i])
				if i < 2 {
					r.Push(vfs.Sink{All: i == 0, Page: 4 * k, Piece: 256 * k, Write: func([]byte, int64) bool { return true }})
				}
				group.Go(func() {
					defer r.Close()
					var threads sync.WaitGroup
					for thread := range int64(2) {
						threads.Go(func() {
							for j := range int64(64) {
								at := (2*j + thread) * 64 * k
								if i == 4 {
									at = 127*64*k - at
								}
								p := make([]byte, 64*k)
								if _, err := r.ReadAt(t.Context(), p, at); err != nil || string(p) != string(sceneVoxels()[at:at+64*k]) {
									t.Errorf("reader %d, 64 KiB at %d: %v, or not those that are there", i, at, err)
								}
							}
						})
					}
					threads.Wait()
				})
			}
			group.Wait()
		})
	}
}

// TestStackLingers holds when a stack has a reader, and for how long.
func TestStackLingers(t *testing.T) {
	inScene(t, manyLayers, func(t *testing.T, s *scene) {
		arrays := 0
		stack := s.shared.NewStack(func() (Array, func()) {
			arrays++
			r := s.all(Ordered)
			return Array{Array: r.array, Source: r.source, Version: r.version}, func() { arrays--; r.Close() }
		})
		enter := func(z int, joined bool) (leave func()) {
			t.Helper()
			r, leave := stack.Enter(z)
			if (r != nil) != joined {
				t.Errorf("plane %d has a reader: %v, expected %v", z, r != nil, joined)
			}
			if r != nil {
				s.read(r, int64(z)*scenePlane, scenePlane)
			}
			return leave
		}
		for z := range 3 {
			enter(z, false)()
		}
		enter(20, false)() // somebody else
		enter(3, true)()
		time.Sleep(linger - 1)
		leave := enter(4, true)
		time.Sleep(2 * linger)
		s.free(false)
		leave()
		time.Sleep(linger - 1)
		synctest.Wait()
		if arrays != 1 {
			t.Errorf("%d arrays are open, expected one", arrays)
		}
		s.free(false)
		time.Sleep(1)
		synctest.Wait()
		if arrays != 0 || len(stack.runs) != 0 {
			t.Errorf("%d arrays are open and %d runs known after %v", arrays, len(stack.runs), linger)
		}
		s.free(true)
	})
}
