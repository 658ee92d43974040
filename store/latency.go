package store

import (
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	// An answer is late if it takes longer than promptAnswer and a nanosecond a byte. The page cache takes 1 µs and
	// 0.2 ns a byte. A fast disk takes 100 µs. A file server on the same network takes 500 µs at best, a disk that turns
	// 5 ms, an object store 20 ms.
	promptAnswer = 300 * time.Microsecond
	promptByte   = time.Nanosecond

	// So many answers in a row that are all late make the source one that answers late. On a busy machine, answers of
	// the page cache are late as well, because their readers wait for a processor; but not all of a row.
	lateInRow = 8
	// So many in a row that are all prompt make it prompt again: the page cache answers for a server, too.
	promptInRow = 32
)

// isLate reports whether the answer of n bytes was late.
func isLate(took time.Duration, n int) bool {
	return took > promptAnswer+time.Duration(n)*promptByte
}

// pace is whether answers come late. It takes a row of answers to change it, but the first answer decides for a start.
//
// At 0 or more, the source is prompt, and that is how many late answers came in a row. Below, it is late, and that is
// how many prompt answers came in a row, and one more, negative. So a prompt answer of a prompt source writes nothing.
type pace struct{ row atomic.Int32 }

func (p *pace) init()      { p.row.Store(lateInRow - 1) }
func (p *pace) late() bool { return p.row.Load() < 0 }

// judge takes an answer of n bytes into account. It reports whether this one was late.
func (p *pace) judge(took time.Duration, n int) (late bool) {
	late = isLate(took, n)
	before := p.row.Load()
	after := before
	switch {
	case before < 0 && late:
		after = -1
	case before < 0:
		if after--; after < -promptInRow {
			after = 0
		}
	case late:
		if after++; after == lateInRow {
			after = -1
		}
	default:
		after = 0
	}
	if after != before {
		p.row.CompareAndSwap(before, after) // if others are judged at the same time, one of them is enough
	}
	return late
}

// meter counts the answers to requests of one kind.
type meter struct {
	n      counter
	recent histogram
	pace   pace
}

func (m *meter) count(now, took time.Duration) {
	m.n.Add(1)
	m.recent.add(now, took)
}

func (m *meter) answers(now time.Duration) Answers {
	a := Answers{Count: m.n.Load()}
	a.P50, a.P99 = m.recent.quantiles(now)
	return a
}

// histogram counts durations of the last minute: those of the running half of a minute, and of the one before.
type histogram struct{ halves [2]half }

const halfMinute = 30 * time.Second

type half struct {
	number atomic.Int64 // which half of a minute it is, since the start; the first one is 0
	counts [buckets]atomic.Uint32
}

// add counts a duration that ended now.
func (h *histogram) add(now, took time.Duration) {
	number := int64(now / halfMinute)
	half := &h.halves[number%2]
	if old := half.number.Load(); old < number && half.number.CompareAndSwap(old, number) {
		for i := range half.counts { // it may lose what others add right now
			half.counts[i].Store(0)
		}
	}
	half.counts[bucketOf(took)].Add(1)
}

// quantiles returns the durations that half, and 99 of 100 did not exceed.
func (h *histogram) quantiles(now time.Duration) (p50, p99 time.Duration) {
	var counts [buckets]uint64
	total := uint64(0)
	for i := range h.halves {
		if half := &h.halves[i]; half.number.Load() >= int64(now/halfMinute)-1 {
			for b := range counts {
				n := uint64(half.counts[b].Load())
				counts[b] += n
				total += n
			}
		}
	}
	if total == 0 {
		return 0, 0
	}
	upTo := uint64(0)
	for b, n := range counts {
		upTo += n
		if p50 == 0 && 100*upTo >= 50*total {
			p50 = bucketMiddle(b)
		}
		if 100*upTo >= 99*total {
			return p50, bucketMiddle(b)
		}
	}
	return p50, p99
}

// Buckets have a quarter of the length of their octave. The first begins with 2^firstOctave ns, 0.5 µs, and
// takes all that is shorter. The last ends with 2^lastOctave ns, 18 minutes, and takes all that is longer.
const (
	firstOctave = 9
	lastOctave  = 40
	buckets     = 4 * (lastOctave - firstOctave)
)

func bucketOf(d time.Duration) int {
	n := min(max(uint64(max(d, 0)), 1<<firstOctave), 1<<lastOctave-1)
	octave := bits.Len64(n) - 1
	return 4*(octave-firstOctave) + int(n>>(octave-2)&3)
}

// bucketMiddle returns the middle of a bucket, which is up to an eighth from its ends.
func bucketMiddle(b int) time.Duration {
	octave := firstOctave + b/4
	return time.Duration(2*(4+b%4)+1) << (octave - 3)
}
