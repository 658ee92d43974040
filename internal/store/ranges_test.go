package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// open opens the file of a server through a schedule.
func open(t *testing.T, fsys fs.FS, o Options) (*Scheduled, fs.File) {
	t.Helper()
	s := Schedule(fsys, o)
	f, err := s.Open("file")
	if err != nil {
		t.Fatal(err)
	}
	return s, f
}

// makeLate lets the source have answered late.
func makeLate(s *Scheduled) { setLate(s, true) }

func setLate(s *Scheduled, late bool) {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	for _, p := range []*pace{&s.queue.reads.pace, &s.queue.looks.pace} {
		p.isLate.Store(late)
		p.row = 0
	}
}

// apart returns ranges of so many bytes that are too far apart to be read at once.
func apart(n, size int) []vfs.Range {
	ranges := make([]vfs.Range, n)
	for i := range ranges {
		ranges[i] = vfs.Range{Off: int64(i) * int64(size+maxGap+1), P: make([]byte, size), Err: errors.New("not read")}
	}
	return ranges
}

func checkRanges(t *testing.T, ranges []vfs.Range) {
	t.Helper()
	for i, r := range ranges {
		if at := wrong(r); r.Err != nil || at >= 0 {
			t.Fatalf("range %d of %d: %v, wrong at byte %d", i, len(ranges), r.Err, at)
		}
	}
}

// TestReadRangesLate: ranges of a source that answers late take as many round trips as they have to.
func TestReadRangesLate(t *testing.T) {
	for _, c := range []struct {
		what     string
		depth    int
		known    bool // that it answers late
		n, size  int
		requests int
		trips    time.Duration
		most     int
	}{
		{"none", 0, true, 0, 1, 0, 0, 0},
		{"one", 0, true, 1, 4096, 1, 1, 1},
		{"one, not known", 0, false, 1, 4096, 1, 1, 1},
		{"as many as go", 0, true, 64, 4096, 64, 1, 64},
		{"one more", 0, true, 65, 4096, 65, 2, 64},
		{"the first one tells", 0, false, 65, 4096, 65, 2, 64},
		{"many", 0, false, 641, 10, 641, 11, 64},
		{"in turn", 1, true, 7, 10, 7, 7, 1},
		{"three", 3, true, 7, 10, 7, 3, 3},
		{"of no bytes", 0, true, 10, 0, 0, 0, 0},
		{"one of 8 MiB", 0, true, 1, 8 << 20, 32, 1, 32},
		{"one as large as they are read", 0, true, 1, maxRequest, 1, 1, 1},
		{"larger by a byte", 0, true, 1, maxRequest + 1, 2, 1, 2},
		{"another one that begins inside a page", 0, true, 2, maxRequest, 3, 1, 3},
		{"bounded in bytes", 1000, true, 1, 40 << 20, 160, 2, 128},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &remote{FS: pattern(math.MaxInt64)}
				s, f := open(t, server, Options{Depth: c.depth})
				if c.known {
					makeLate(s)
				}
				server.forget()
				ranges, start := apart(c.n, c.size), time.Now()
				vfs.ReadRanges(t.Context(), f, ranges)
				if took := time.Since(start); took != c.trips*roundTrip {
					t.Errorf("took %v, expected %d round trips of %v", took, c.trips, roundTrip)
				}
				checkRanges(t, ranges)
				if n := len(server.asked("read")); n != c.requests {
					t.Errorf("%d requests, expected %d", n, c.requests)
				}
				if server.most != c.most || server.peak > maxInFlight {
					t.Errorf("%d requests of %d bytes were in flight, expected %d of up to %d", server.most, server.peak, c.most, maxInFlight)
				}
				if c.requests > 0 && !vfs.IsLate(f) {
					t.Error("the source is not known to answer late")
				}
			})
		})
	}
}

// TestReadRangesOnceLate: after one late answer, the others are not waited for in turn, whatever came before.
func TestReadRangesOnceLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := open(t, &remote{FS: pattern(math.MaxInt64)}, Options{})
		setLate(s, false)
		ranges, start := apart(1+3, 10), time.Now()
		vfs.ReadRanges(t.Context(), f, ranges)
		checkRanges(t, ranges)
		if took := time.Since(start); took != 2*roundTrip || s.Late() {
			t.Errorf("took %v, expected 2 round trips; late: %v", took, s.Late())
		}
	})
}

// TestReadRangesPrompt: ranges of a source that answers at once are read in turn, each as it is.
func TestReadRangesPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const prompt = 10 * time.Microsecond
		server := &remote{FS: pattern(math.MaxInt64), takes: func(request) (time.Duration, error) { return prompt, nil }}
		s, f := open(t, server, Options{})
		server.forget()
		ranges := []vfs.Range{{Off: 5, P: make([]byte, 7)}, {Off: 12, P: make([]byte, 2*maxRequest)}, {Off: 0, P: make([]byte, 1)}}
		start := time.Now()
		vfs.ReadRanges(t.Context(), f, ranges)
		if took := time.Since(start); took != 3*prompt {
			t.Errorf("took %v, expected three answers of %v", took, prompt)
		}
		checkRanges(t, ranges)
		if got, want := fmt.Sprint(server.requests), fmt.Sprintf("[{read 5 7} {read 12 %d} {read 0 1}]", 2*maxRequest); got != want {
			t.Errorf("got %s, expected %s", got, want)
		}
		if s.Late() {
			t.Error("the source answers late")
		}
	})
}

// TestReadRangesJoined: which ranges become one request.
func TestReadRangesJoined(t *testing.T) {
	type part struct{ off, n int64 }
	for _, c := range []struct {
		what   string
		ranges []part
		want   []part
	}{
		{"one", []part{{5, 10}}, []part{{5, 10}}},
		{"neighbours", []part{{5, 10}, {15, 10}, {25, 1}}, []part{{5, 21}}},
		{"a gap", []part{{0, 10}, {10 + maxGap, 10}}, []part{{0, maxGap + 20}}},
		{"a wider gap", []part{{0, 10}, {11 + maxGap, 10}}, []part{{0, 10}, {11 + maxGap, 10}}},
		{"whole pages", []part{{0, maxRequest - 1}, {maxRequest - 1, 1}, {maxRequest, 1}}, []part{{0, maxRequest}, {maxRequest, 1}}},
		{"from inside a page", []part{{page + 7, maxRequest - 8}, {page + maxRequest - 1, 1}, {page + maxRequest, 1}},
			[]part{{page + 7, maxRequest - 7}, {page + maxRequest, 1}}},
		{"backwards", []part{{10, 10}, {0, 10}}, []part{{0, 10}, {10, 10}}},
		{"overlap", []part{{0, 10}, {9, 10}}, []part{{0, 10}, {9, 10}}},
		{"twice", []part{{3, 10}, {3, 10}}, []part{{3, 10}, {3, 10}}},
		{"an empty one between", []part{{0, 10}, {1 << 40, 0}, {10, 10}}, []part{{0, 20}}},
		{"a long one is cut where it may be", []part{{100, 2 * maxRequest}},
			[]part{{100, maxRequest - 100}, {maxRequest, maxRequest}, {2 * maxRequest, 100}}},
		{"its end and the next one", []part{{0, maxRequest + 1}, {maxRequest + 1, 5}}, []part{{0, maxRequest}, {maxRequest, 6}}},
		{"at the end of numbers", []part{{math.MaxInt64 - 5, 2}, {math.MaxInt64 - 3, 2}}, []part{{math.MaxInt64 - 5, 4}}},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &remote{FS: pattern(math.MaxInt64)}
				s, f := open(t, server, Options{})
				makeLate(s)
				var ranges []vfs.Range
				for _, r := range c.ranges {
					ranges = append(ranges, vfs.Range{Off: r.off, P: make([]byte, r.n)})
				}
				vfs.ReadRanges(t.Context(), f, ranges)
				checkRanges(t, ranges)
				var got []part
				for _, q := range server.asked("read") {
					got = append(got, part{q.off, int64(q.n)})
				}
				if fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("read %v, expected %v", got, c.want)
				}
			})
		})
	}
}

// TestReadRangesRandom reads ranges at random, while answers come in any order and a byte cannot be read.
func TestReadRangesRandom(t *testing.T) {
	const size = 3 * maxRequest
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			damaged := random.Int64N(2 * size)
			if damaged >= size {
				damaged = -1 // none
			}
			var mu sync.Mutex
			server := &remote{FS: pattern(size), takes: func(q request) (time.Duration, error) {
				mu.Lock()
				defer mu.Unlock()
				took := time.Duration(random.Int64N(int64(roundTrip)))
				if q.off <= damaged && damaged < q.off+int64(q.n) {
					return took, syscall.EIO
				}
				return took, nil
			}}
			s, f := open(t, server, Options{Depth: 1 + random.IntN(10)})
			if seed%3 > 0 {
				makeLate(s)
			}
			ranges := randomRanges(random, size)
			vfs.ReadRanges(t.Context(), f, ranges)
			for i, r := range ranges {
				want, end := error(nil), r.Off+int64(len(r.P))
				switch {
				case r.Off <= damaged && damaged < end:
					want = syscall.EIO
				case r.Off < end && end > size:
					want = io.ErrUnexpectedEOF
				}
				if at := wrong(r); r.Err != want || want == nil && at >= 0 {
					t.Errorf("seed %d, range %d, %d bytes from %d on: got %v, expected %v; wrong at byte %d", seed, i, len(r.P), r.Off, r.Err, want, at)
				}
			}
			checkIdle(t, s)
		})
	}
}

// randomRanges returns ranges that mostly follow each other, with gaps of all sizes, some of them beyond the end.
func randomRanges(random *rand.Rand, size int64) []vfs.Range {
	off := random.Int64N(size)
	var ranges []vfs.Range
	for range random.IntN(30) {
		n := random.IntN(1 << (1 + random.IntN(19)))
		ranges = append(ranges, vfs.Range{Off: off, P: make([]byte, n)})
		switch random.IntN(4) {
		case 0:
			off += int64(n)
		case 1:
			off += int64(n) + random.Int64N(2*maxGap)
		case 2:
			off += random.Int64N(int64(n) + 1)
		default:
			off = random.Int64N(size)
		}
	}
	return ranges
}

// TestFairness: a reader of many ranges lets others have their turn, each after a round trip.
func TestFairness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &remote{FS: pattern(math.MaxInt64)}
		s, f := open(t, server, Options{Depth: 8})
		makeLate(s)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { vfs.ReadRanges(t.Context(), f, apart(100, 10)) })
		}
		synctest.Wait()
		for range 10 {
			time.Sleep(roundTrip / 3)
			start := time.Now()
			if _, err := vfs.ReadAt(t.Context(), f, make([]byte, 10), 0); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took > 2*roundTrip {
				t.Errorf("a reader of one range waited for %v", took)
			}
		}
		all.Wait()
		checkIdle(t, s)
	})
}

// TestReadAtLate: a long read is cut, and tells how many bytes there are.
func TestReadAtLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := open(t, &remote{FS: pattern(8*maxRequest + 5)}, Options{})
		makeLate(s)
		p, start := make([]byte, 8*maxRequest), time.Now()
		n, err := f.(io.ReaderAt).ReadAt(p, 5)
		if n != len(p) || err != nil || wrong(vfs.Range{Off: 5, P: p}) >= 0 || time.Since(start) != roundTrip {
			t.Errorf("got %d bytes and %v after %v", n, err, time.Since(start))
		}
		n, err = f.(io.ReaderAt).ReadAt(p, 6)
		if n != len(p)-1 || err != io.EOF || wrong(vfs.Range{Off: 6, P: p[:n]}) >= 0 {
			t.Errorf("got %d bytes and %v", n, err)
		}
		checkIdle(t, s)
	})
}
