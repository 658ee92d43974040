package store

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestReadRangesLate: reads of a late source take as few round trips as possible.
func TestReadRangesLate(t *testing.T) {
	for _, c := range []struct {
		name     string
		depth    int
		late     bool // from the start
		n, size  int
		requests int
		trips    time.Duration
		most     int
	}{
		{"none", 0, true, 0, 1, 0, 0, 0},
		{"one", 0, true, 1, 4096, 1, 1, 1},
		{"one, late from now", 0, false, 1, 4096, 1, 1, 1},
		{"as many as slots", 0, true, 64, 4096, 64, 1, 64},
		{"one more", 0, true, 65, 4096, 65, 2, 64},
		{"the first answer is late", 0, false, 65, 4096, 65, 2, 64},
		{"many", 0, false, 641, 10, 641, 11, 64},
		{"in turn", 1, true, 7, 10, 7, 7, 1},
		{"three", 3, true, 7, 10, 7, 3, 3},
		{"of no bytes", 0, true, 10, 0, 0, 0, 0},
		{"one of 8 MiB", 0, true, 1, 8 << 20, 32, 1, 32},
		{"the largest request", 0, true, 1, maxRequest, 1, 1, 1},
		{"larger by a byte", 0, true, 1, maxRequest + 1, 2, 1, 2},
		{"one that starts inside a page", 0, true, 2, maxRequest, 3, 1, 3},
		{"bounded in bytes", 1000, true, 1, 40 << 20, 160, 2, 128},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &remote{FS: pattern(math.MaxInt64)}
				s, f := open(t, server, Options{Depth: c.depth})
				if c.late {
					makeLate(s)
				}
				server.forget()
				ranges, start := apart(c.n, c.size), time.Now()
				vfs.ReadRanges(t.Context(), f, ranges)
				if took := time.Since(start); took != c.trips*roundTrip {
					t.Errorf("took %v, expected %d round trips of %v", took, c.trips, roundTrip)
				}
				checkRanges(t, ranges)
				if n := len(server.requestsOf("read")); n != c.requests {
					t.Errorf("%d requests, expected %d", n, c.requests)
				}
				if server.most != c.most || server.peak > maxInFlight {
					t.Errorf("%d requests of %d bytes were in flight, expected %d of up to %d", server.most,
						server.peak, c.most, maxInFlight)
				}
				if c.requests > 0 && !vfs.SpeedOf(f).Late {
					t.Error("the source is not late")
				}
			})
		})
	}
}

// TestReadRangesOneLateAnswer: after one late answer, the other ranges are read at once, even if the source
// is still prompt.
func TestReadRangesOneLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := open(t, &remote{FS: pattern(math.MaxInt64)}, Options{})
		setLate(s, false)
		ranges, start := apart(1+3, 10), time.Now()
		vfs.ReadRanges(t.Context(), f, ranges)
		checkRanges(t, ranges)
		if took := time.Since(start); took != 2*roundTrip || s.Speed().Late {
			t.Errorf("took %v, expected 2 round trips; late: %v", took, s.Speed().Late)
		}
	})
}

// TestReadRangesPrompt: ranges of a prompt source are read one after the other, each with one request.
func TestReadRangesPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const prompt = 10 * time.Microsecond
		server := &remote{FS: pattern(math.MaxInt64),
			takes: func(request) (time.Duration, error) { return prompt, nil }}
		s, f := open(t, server, Options{})
		server.forget()
		ranges := []vfs.Range{{Off: 5, P: make([]byte, 7)}, {Off: 12, P: make([]byte, 2*maxRequest)},
			{Off: 0, P: make([]byte, 1)}}
		start := time.Now()
		vfs.ReadRanges(t.Context(), f, ranges)
		if took := time.Since(start); took != 3*prompt {
			t.Errorf("took %v, expected three answers of %v", took, prompt)
		}
		checkRanges(t, ranges)
		if got, want := fmt.Sprint(server.requests), fmt.Sprintf("[{read 5 7} {read 12 %d} {read 0 1}]",
			2*maxRequest); got != want {
			t.Errorf("got %s, expected %s", got, want)
		}
		if s.Speed().Late {
			t.Error("the source is late")
		}
	})
}

// TestReadRangesJoined: neighbouring ranges become one request.
func TestReadRangesJoined(t *testing.T) {
	type part struct{ off, n int64 }
	for _, c := range []struct {
		name   string
		ranges []part
		want   []part
	}{
		{"one", []part{{5, 10}}, []part{{5, 10}}},
		{"neighbours", []part{{5, 10}, {15, 10}, {25, 1}}, []part{{5, 21}}},
		{"a gap", []part{{0, 10}, {10 + maxGap, 10}}, []part{{0, maxGap + 20}}},
		{"a wider gap", []part{{0, 10}, {11 + maxGap, 10}}, []part{{0, 10}, {11 + maxGap, 10}}},
		{"whole pages", []part{{0, maxRequest - 1}, {maxRequest - 1, 1}, {maxRequest, 1}},
			[]part{{0, maxRequest}, {maxRequest, 1}}},
		{"from inside a page", []part{{pageSize + 7, maxRequest - 8}, {pageSize + maxRequest - 1, 1},
			{pageSize + maxRequest, 1}},
			[]part{{pageSize + 7, maxRequest - 7}, {pageSize + maxRequest, 1}}},
		{"backwards", []part{{10, 10}, {0, 10}}, []part{{0, 10}, {10, 10}}},
		{"overlap", []part{{0, 10}, {9, 10}}, []part{{0, 10}, {9, 10}}},
		{"twice", []part{{3, 10}, {3, 10}}, []part{{3, 10}, {3, 10}}},
		{"an empty one between", []part{{0, 10}, {1 << 40, 0}, {10, 10}}, []part{{0, 20}}},
		{"a long one is cut at a multiple of maxRequest", []part{{100, 2 * maxRequest}},
			[]part{{100, maxRequest - 100}, {maxRequest, maxRequest}, {2 * maxRequest, 100}}},
		{"its end and the next one", []part{{0, maxRequest + 1}, {maxRequest + 1, 5}},
			[]part{{0, maxRequest}, {maxRequest, 6}}},
		{"at the largest offset", []part{{math.MaxInt64 - 5, 2}, {math.MaxInt64 - 3, 2}},
			[]part{{math.MaxInt64 - 5, 4}}},
	} {
		t.Run(c.name, func(t *testing.T) {
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
				for _, q := range server.requestsOf("read") {
					got = append(got, part{q.off, int64(q.n)})
				}
				if fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("read %v, expected %v", got, c.want)
				}
			})
		})
	}
}
