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
	// If at least half of so many answers are prompt, the source is prompt again. The page cache answers for a server, too;
	// and on a busy machine, a source that is late by mistake has many prompt answers, but few rows of them.
	paceWindow = 64
)

// pace is whether answers come late. It takes a row of answers to change it, but the first answer decides for a start.
type pace struct {
	isLate atomic.Bool
	never  bool // it is not judged

	row             int // while it is prompt: how many late answers came in a row
	answers, prompt int // while it is late: of this window
}

func (p *pace) init(never bool) { p.never, p.row = never, lateInRow-1 }
func (p *pace) late() bool      { return p.isLate.Load() }

// judge takes an answer of n bytes into account. It reports whether this one was late. One goroutine at a time calls it.
func (p *pace) judge(took time.Duration, n int) (late bool) {
	if p.never {
		return false
	}
	late = p.isLateAnswer(took, n)
	switch {
	case !p.late() && !late:
		p.row = 0
	case !p.late():
		if p.row++; p.row == lateInRow {
			p.isLate.Store(true)
			p.row, p.answers, p.prompt = 0, 0, 0
		}
	default:
		if p.answers++; !late {
			p.prompt++
		}
		if p.answers == paceWindow {
			p.isLate.Store(p.prompt < paceWindow/2)
			p.answers, p.prompt = 0, 0
		}
	}
	return late
}

// isLateAnswer reports whether an answer of n bytes is late.
func (p *pace) isLateAnswer(took time.Duration, n int) bool {
	return !p.never && took > promptAnswer+time.Duration(n)*promptByte
}

// meter counts the answers to requests of one kind.
type meter struct {
	n, bytes uint64
	recent   histogram
	pace     pace
}

func (m *meter) count(now, took time.Duration, n int) {
	m.n++
	m.bytes += uint64(n)
	m.recent.add(now, took)
}

func (m *meter) answers(now time.Duration) Answers {
	p50, p99 := m.recent.quantiles(now)
	return Answers{m.n, p50, p99}
}

// histogram counts durations of the last minute: those of the running half of a minute, and of the one before.
type histogram struct{ halves [2]half }

const halfMinute = 30 * time.Second

type half struct {
	number int64 // which half of a minute it is, since the start; the first one is 0
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

// quantiles returns the durations that half, and 99 of 100 did not exceed.
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
