package store

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// answers repeats durations of answers, in µs, n times.
func answers(n int, each ...int) (all []int) { return slices.Repeat(each, n) }

// TestLateness: the last answers decide whether a source is late.
func TestLateness(t *testing.T) {
	const hit, late, latest = 2, 301, 5000
	for _, c := range []struct {
		name string
		took []int
		want bool
	}{
		{"none", nil, false},
		{"a hit", []int{hit}, false},
		{"the longest prompt answer", []int{300}, false},
		{"the first answer is late", []int{late}, true},
		{"a late answer after a hit", []int{hit, latest}, false},
		{"too few late answers in a row", append([]int{hit}, answers(lateInRow-1, latest)...), false},
		{"enough late answers in a row", append([]int{hit}, answers(lateInRow, late)...), true},
		{"late from the start, and a hit now and then", append(answers(100, latest, latest, latest, hit), latest),
			true},
		{"hits interrupt the row", append([]int{hit}, answers(100, latest, latest, latest, hit)...), false},
		{"hits of a late source", append([]int{latest}, answers(latenessWindow-1, hit)...), true},
		{"a window of hits", append([]int{latest}, answers(latenessWindow, hit)...), false},
		{"half of a window", append([]int{latest}, answers(latenessWindow/2, hit, latest)...), false},
		{"less than half of a window", slices.Concat(answers(1, latest), answers(latenessWindow/2-1, hit, latest),
			answers(2, late)), true},
		{"a window of late answers, then one of hits",
			slices.Concat(answers(1, latest), answers(latenessWindow, latest), answers(latenessWindow, hit)), false},
		{"late again", slices.Concat(answers(1, latest), answers(latenessWindow, hit), answers(lateInRow, latest)),
			true},
		{"not late again", slices.Concat(answers(1, latest), answers(latenessWindow, hit),
			answers(lateInRow-1, latest)), false},
	} {
		var l lateness
		l.init(false, promptAnswer)
		for _, us := range c.took {
			l.add(time.Duration(us)*time.Microsecond, 0)
		}
		if l.late() != c.want {
			t.Errorf("%s: got late %v", c.name, l.late())
		}
	}
}

// TestLateBytes: a read of many bytes may take longer.
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
		var l lateness
		l.init(false, promptAnswer)
		if late := l.add(c.took, c.n); late != c.want || l.late() != c.want {
			t.Errorf("%d bytes in %v: late answer %v, late source %v", c.n, c.took, late, l.late())
		}
	}
}

// TestLatenessAtRandom mixes late and prompt answers. A local disk on a busy machine is prompt. A file server is
// late even if the page cache gives some of the answers.
func TestLatenessAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		late     float64 // fraction of late answers
		from, to float64 // fraction of the time that the source is late
	}{
		{0.01, 0, 0},
		{0.1, 0, 0.001},
		{0.2, 0, 0.05},
		{0.4, 0, 0.25},
		{0.6, 0.85, 1},
		{0.8, 0.999, 1},
	} {
		var l lateness
		l.init(false, promptAnswer)
		l.add(0, 0)
		const n = 1_000_000
		late := 0
		for range n {
			took := time.Duration(0)
			if random.Float64() < c.late {
				took = time.Second
			}
			if l.add(took, 0); l.late() {
				late++
			}
		}
		if got := float64(late) / n; got < c.from || got > c.to {
			t.Errorf("%v of the answers late: source late %v of the time, expected %v to %v", c.late, got, c.from, c.to)
		}
	}
}

// TestLocal: a local disk gets one request after the other, even if its answers are late.
func TestLocal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &remote{FS: pattern(1 << 30)}
		s, f := open(t, server, Options{Local: true})
		server.forget()
		ranges, start := apart(100, 4096), time.Now()
		vfs.ReadRanges(t.Context(), f, ranges)
		if took := time.Since(start); took != 100*roundTrip || server.most != 1 || s.Speed().Late {
			t.Errorf("took %v with %d in flight; late: %v", took, server.most, s.Speed().Late)
		}
		checkRanges(t, ranges)
	})
}
