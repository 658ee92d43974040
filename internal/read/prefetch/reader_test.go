package prefetch

import (
	"io"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// TestReadBounds checks reads at the ends of the array, before it and after it.
func TestReadBounds(t *testing.T) {
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		r := s.openAll(NoHint)
		defer r.Close()
		size := r.Array().Size()
		for _, c := range []struct {
			off  int64
			n    int
			want int
			err  error
		}{{-1, 1, 0, fs.ErrInvalid}, {size, 1, 0, io.EOF}, {size + 1, 1, 0, io.EOF}, {size - 1, 2, 1, io.EOF},
			{size - 1, 1, 1, nil}, {0, 0, 0, nil}} {
			if n, err := r.ReadAt(t.Context(), make([]byte, c.n), c.off); n != c.want || err != c.err {
				t.Errorf("%d bytes at %d: %d, %v, expected %d, %v", c.n, c.off, n, err, c.want, c.err)
			}
		}
	})
}

// TestStates takes each transition between the states of a Reader, and closes the Reader in each state.
func TestStates(t *testing.T) {
	// s: read on sequentially; e: read elsewhere; o: start a small array with HintOnce; i: be idle while another reader
	// needs memory.
	for _, steps := range []string{"", "e", "s", "se", "ses", "sesei", "sei", "si", "sis", "o", "oe", "oi", "oio"} {
		t.Run(steps, func(t *testing.T) {
			inScene(t, fitsOneReader, func(t *testing.T, s *scene) {
				r, at := s.openAll(NoHint), int64(0)
				box := volume.Box{Max: volume.Vec{512, 512, 16}}
				if len(steps) > 0 && steps[0] == 'o' {
					r = s.open(box, HintOnce)
				}
				defer func() { r.Close() }()
				for _, step := range steps {
					switch step {
					case 's':
						n := 4 * 64 * k
						if at > 0 { // it read elsewhere before
							n = int(scenePlane + usual.kernelReadahead + 64*k)
						}
						s.read(r, at, int64(n))
						at += int64(n)
						s.expectState(r, sequential)
					case 'o':
						s.read(r, 0, 4*k)
						s.expectState(r, sequential)
					case 'e':
						before := r.plan.state
						s.read(r, min(28*scenePlane, r.array.Size()-4*k), 4*k)
						s.expectState(r, map[state]state{random: random, sequential: paused}[before])
					case 'i':
						synctest.Wait()
						before := r.plan.state
						other := s.openAll(NoHint)
						time.Sleep(idleTime)
						s.read(other, 0, 4*64*k)
						s.expectState(other, random) // the first reader is idle, but not for more than a second
						s.expectState(r, before)
						time.Sleep(time.Nanosecond)
						s.read(other, 4*64*k, 64*k)
						s.expectState(r, random)
						s.expectState(other, sequential)
						synctest.Wait()
						other.Close()
						s.expectState(other, random)
						synctest.Wait()
						s.loads.Store(0)
					}
				}
			})
		})
	}
}

// TestSequentialReaderLoadsOnce checks that each block is loaded once, the next slab before it is read, and that no
// block is kept.
func TestSequentialReaderLoadsOnce(t *testing.T) {
	for _, hint := range []Hint{NoHint, HintSequential} {
		inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
			r := s.openAll(hint)
			s.read(r, 0, 8*scenePlane)
			s.expectLoads(2 * slabBlocks)
			s.read(r, 8*scenePlane, 24*scenePlane)
			s.expectLoads(2 * slabBlocks)
			r.Close()
		})
	}
}

// TestPausedReaderKeepsPortions has a reader read elsewhere and return to its portions.
func TestPausedReaderKeepsPortions(t *testing.T) {
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		r := s.openAll(NoHint)
		defer r.Close()
		s.read(r, 0, 3*scenePlane)
		s.expectLoads(2 * slabBlocks)
		s.read(r, 28*scenePlane, 4*k)
		s.expectState(r, paused)
		s.expectLoads(8)
		s.read(r, 3*scenePlane, 5*scenePlane)
		s.expectState(r, sequential)
		s.expectLoads(0)
	})
}

// TestSmallArray: a small array with HintOnce is decoded ahead of its reader from the first byte on, each block once. A
// reader that starts elsewhere, one of a larger array and one without memory are not sequential yet.
func TestSmallArray(t *testing.T) {
	small := volume.Box{Min: volume.Vec{60, 60, 6}, Max: volume.Vec{200, 200, 20}}
	for _, c := range []struct {
		name   string
		budget int64
		box    volume.Box
		hint   Hint
		off    int64
		want   state
	}{
		{"small", fitsTwoReaders, small, HintOnce, 0, sequential},
		{"not from its start", fitsTwoReaders, small, HintOnce, 9973, random},
		{"read in any way", fitsTwoReaders, small, NoHint, 0, random},
		{"larger", fitsTwoReaders, volume.Box{Max: volume.Vec{512, 512, 64}}, HintOnce, 0, random},
		{"no memory", 1 << 20, volume.Box{Max: volume.Vec{512, 512, 8}}, HintOnce, 0, random},
	} {
		t.Run(c.name, func(t *testing.T) {
			inScene(t, c.budget, func(t *testing.T, s *scene) {
				r := s.open(c.box, c.hint)
				defer r.Close()
				s.read(r, c.off, 100)
				s.expectState(r, c.want)
				if c.want == sequential {
					s.read(r, 100, r.array.Size()-100)
					s.expectLoads(4 * 4 * 3)
				}
				s.loads.Store(0)
			})
		})
	}
}

// TestSinglePlane checks that an array of one plane has no portions, because no block is needed twice.
func TestSinglePlane(t *testing.T) {
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		r := s.open(volume.Box{Max: volume.Vec{512, 512, 1}}, NoHint)
		s.read(r, 0, scenePlane)
		s.expectState(r, random)
		s.expectLoads(slabBlocks)
		r.Close()
	})
}

// TestTooMuchMemory has a reader need more memory than there is. An idle reader keeps its portions.
func TestTooMuchMemory(t *testing.T) {
	inScene(t, fitsPartialSlabs, func(t *testing.T, s *scene) {
		idle, large := s.open(volume.Box{Max: volume.Vec{256, 256, 32}}, NoHint), s.openAll(NoHint)
		s.read(idle, 0, 256*k)
		s.expectState(idle, sequential)
		synctest.Wait()
		time.Sleep(2 * idleTime)
		s.read(large, 0, 256*k)
		s.expectState(large, random)
		s.expectState(idle, sequential)
		idle.Close()
		large.Close()
	})
}
