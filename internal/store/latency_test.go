package store

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// answers is how long answers took, in µs.
func answers(n int, each ...int) (all []int) { return slices.Repeat(each, n) }

func TestPace(t *testing.T) {
	const hit, late, latest = 2, 301, 5000
	for _, c := range []struct {
		what string
		took []int
		want bool
	}{
		{"none", nil, false},
		{"a hit", []int{hit}, false},
		{"the longest prompt answer", []int{300}, false},
		{"the first one is late", []int{late}, true},
		{"a late one after a hit", []int{hit, latest}, false},
		{"not enough late ones in a row", append([]int{hit}, answers(lateInRow-1, latest)...), false},
		{"enough", append([]int{hit}, answers(lateInRow, late)...), true},
		{"a hit interrupts them", append(answers(100, latest, latest, latest, hit), latest), true}, // since the first one
		{"a hit interrupts them, after a hit", append([]int{hit}, answers(100, latest, latest, latest, hit)...), false},
		{"hits of a late source", append([]int{latest}, answers(paceWindow-1, hit)...), true},
		{"as many as it takes", append([]int{latest}, answers(paceWindow, hit)...), false},
		{"half of them", append([]int{latest}, answers(paceWindow/2, hit, latest)...), false},
		{"fewer", slices.Concat(answers(1, latest), answers(paceWindow/2-1, hit, latest), answers(2, late)), true},
		{"fewer, and then more", slices.Concat(answers(1, latest), answers(paceWindow, latest), answers(paceWindow, hit)), false},
		{"late again", slices.Concat(answers(1, latest), answers(paceWindow, hit), answers(lateInRow, latest)), true},
		{"not late again", slices.Concat(answers(1, latest), answers(paceWindow, hit), answers(lateInRow-1, latest)), false},
	} {
		var p pace
		p.init(false)
		for _, us := range c.took {
			p.judge(time.Duration(us)*time.Microsecond, 0)
		}
		if p.late() != c.want {
			t.Errorf("%s: got late %v", c.what, p.late())
		}
	}
}

// TestLateBytes: long reads may take longer.
func TestLateBytes(t *testing.T) {
	for _, c := range []struct {
		n    int
		took time.Duration
		want bool
	}{
		{0, promptAnswer, false},
		{0, promptAnswer + 1, true},
		{1 << 20, promptAnswer + 1<<20, false},
		{1 << 20, promptAnswer + 1<<20 + 1, true},
	} {
		var p pace
		p.init(false)
		if late := p.judge(c.took, c.n); late != c.want || p.late() != c.want {
			t.Errorf("%d bytes in %v: got %v, and a late source %v", c.n, c.took, late, p.late())
		}
	}
}

// TestPaceAtRandom mixes late answers and prompt ones: a local disk on a busy machine is prompt, and a server is late
// even if the page cache has a part of the answers.
func TestPaceAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		late     float64 // how many of the answers are
		from, to float64 // how often the source may be late then
	}{
		{0.01, 0, 0},
		{0.1, 0, 0.001},
		{0.2, 0, 0.05},
		{0.4, 0, 0.25},
		{0.6, 0.85, 1},
		{0.8, 0.999, 1},
	} {
		var p pace
		p.init(false)
		p.judge(0, 0)
		const n = 1_000_000
		late := 0
		for range n {
			took := time.Duration(0)
			if random.Float64() < c.late {
				took = time.Second
			}
			if p.judge(took, 0); p.late() {
				late++
			}
		}
		if got := float64(late) / n; got < c.from || got > c.to {
			t.Errorf("%v of the answers late: the source is late %v of the time, expected %v to %v", c.late, got, c.from, c.to)
		}
	}
}

// TestBuckets: each duration is in a bucket whose middle is near.
func TestBuckets(t *testing.T) {
	last := 0
	for d := time.Duration(1 << firstOctave); d < 1<<lastOctave; d += d/100 + 1 {
		b := bucketOf(d)
		if b < last || b > last+1 {
			t.Fatalf("%v: bucket %d after %d", d, b, last)
		}
		last = b
		if off := math.Abs(float64(bucketMiddle(b)-d)) / float64(d); off > 0.125 {
			t.Fatalf("%v: counted as %v", d, bucketMiddle(b))
		}
	}
	if last != buckets-1 {
		t.Errorf("the last bucket is %d, expected %d", last, buckets-1)
	}
	for _, d := range []time.Duration{-1, 0, 1, 1 << firstOctave} {
		if b := bucketOf(d); b != 0 {
			t.Errorf("%v: bucket %d", d, b)
		}
	}
	for _, d := range []time.Duration{1 << lastOctave, math.MaxInt64} {
		if b := bucketOf(d); b != buckets-1 {
			t.Errorf("%v: bucket %d", d, b)
		}
	}
}

// TestHistogram follows what is counted through the minutes.
func TestHistogram(t *testing.T) {
	var h histogram
	second := time.Second
	for _, c := range []struct {
		at       time.Duration
		add      []time.Duration
		p50, p99 time.Duration // of which octave
	}{
		{0, nil, 0, 0},
		{1 * second, []time.Duration{1000}, 1000, 1000},
		{29 * second, slices.Repeat([]time.Duration{1 << 20}, 9), 1 << 20, 1 << 20},
		{31 * second, slices.Repeat([]time.Duration{1 << 30}, 5), 1 << 20, 1 << 30},
		{59 * second, nil, 1 << 20, 1 << 30},
		{61 * second, nil, 1 << 30, 1 << 30},
		{62 * second, slices.Repeat([]time.Duration{5000}, 1000), 5000, 5000},
		{100 * second, nil, 5000, 5000},
		{125 * second, nil, 0, 0},
		{1000 * second, nil, 0, 0},
		{1001 * second, []time.Duration{7000}, 7000, 7000},
	} {
		for _, took := range c.add {
			h.add(c.at, took)
		}
		p50, p99 := h.quantiles(c.at)
		want := func(d time.Duration) time.Duration {
			if d == 0 {
				return 0
			}
			return bucketMiddle(bucketOf(d))
		}
		if p50 != want(c.p50) || p99 != want(c.p99) {
			t.Errorf("at %v: got %v and %v, expected %v and %v", c.at, p50, p99, want(c.p50), want(c.p99))
		}
	}
}

// TestLocal: a disk of this machine is asked in turn, however late its answers are.
func TestLocal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &remote{FS: pattern(1 << 30)}
		s, f := open(t, server, Options{Local: true})
		server.forget()
		ranges, start := apart(100, 4096), time.Now()
		vfs.ReadRanges(t.Context(), f, ranges)
		if took := time.Since(start); took != 100*roundTrip || server.most != 1 || s.Late() {
			t.Errorf("it took %v with %d at a time; late: %v", took, server.most, s.Late())
		}
		checkRanges(t, ranges)
	})
}
