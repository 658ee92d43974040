package store

import (
	"math/bits"
	"time"
)

// meter counts and times the requests of one kind and their answers.
type meter struct {
	slots
	n, bytes uint64
	recent   histogram
	lateness lateness
	distance lateness // with distantAnswer: the source is distant
}

func (m *meter) init(o Options) {
	m.slots.init(o.Depth)
	m.lateness.init(o.Local, promptAnswer)
	m.distance.init(o.Local, distantAnswer)
}

// observe counts an answer of n bytes for the lateness of the source.
func (m *meter) observe(took time.Duration, n int) {
	m.distance.add(took, n)
	m.lateness.add(took, n)
}

// count counts an answer of n bytes that took some time and ended now.
func (m *meter) count(now, took time.Duration, n int) {
	m.n++
	m.bytes += uint64(n)
	m.recent.add(now, took)
}

func (m *meter) answers(now time.Duration) Answers {
	p50, p99 := m.recent.quantiles(now)
	return Answers{m.n, p50, p99}
}

// histogram counts the durations of about the last minute: those of the current half minute and of the one
// before.
type histogram struct{ halves [2]half }

const halfMinute = 30 * time.Second

type half struct {
	number int64 // half minutes since the start
	counts [buckets]uint32
}

// add counts a duration that ended now.
func (h *histogram) add(now, took time.Duration) {
	number := int64(now / halfMinute)
	half := &h.halves[number%2]
	if half.number < number {
		half.number, half.counts = number, [buckets]uint32{}
	}
	half.counts[bucketOf(took)]++
}

// quantiles returns the 50th and the 99th percentile of the durations, 0 if there are none.
func (h *histogram) quantiles(now time.Duration) (p50, p99 time.Duration) {
	var counts [buckets]uint64
	total := uint64(0)
	for i := range h.halves {
		if half := &h.halves[i]; half.number >= int64(now/halfMinute)-1 {
			for b, n := range half.counts {
				counts[b] += uint64(n)
				total += uint64(n)
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

// Each octave has four buckets of equal width. The first bucket starts at 2^firstOctave ns (0.5 µs) and also
// counts shorter durations. The last one ends at 2^lastOctave ns (18 minutes) and also counts longer
// durations.
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

// bucketMiddle returns the middle of a bucket. The durations of the bucket differ from it by up to an eighth.
func bucketMiddle(b int) time.Duration {
	octave := firstOctave + b/4
	return time.Duration(2*(4+b%4)+1) << (octave - 3)
}
