package store

import (
	"sync/atomic"
	"time"
)

const (
	// An answer is late if it takes longer than promptAnswer and promptByte for each byte. The page cache
	// takes 1 µs and 0.2 ns a byte, a fast disk 100 µs, a file server in the same network at least 500 µs, a
	// hard disk 5 ms, an object store 20 ms.
	promptAnswer = 300 * time.Microsecond
	promptByte   = time.Nanosecond

	// A source is distant if its answers take longer than distantAnswer and promptByte for each byte. A file server
	// does if it is far away or busy. Then a request of 512 KiB takes about as long as one of 64 KiB.
	distantAnswer = 3 * time.Millisecond

	// A source becomes late after this many late answers in a row. On a busy machine, answers of the page
	// cache are late, too, because their readers wait for a processor. But they are not late in a row.
	lateInRow = 8
	// A late source becomes prompt if at least half of this many answers are prompt. A row of prompt answers
	// does not suffice, because the page cache answers for a file server, too. If a busy machine makes a
	// source late by mistake, many of its answers are prompt, but few in a row.
	latenessWindow = 64
)

// lateness decides from its answers whether a source is late. The first answer decides at once.
type lateness struct {
	isLate atomic.Bool
	never  bool          // the source is never late
	prompt time.Duration // the longest answer of no bytes that is prompt

	lateRow       int // of a prompt source: late answers in a row
	answers, hits int // of a late source: answers in the current window, and prompt ones among them
}

func (l *lateness) init(never bool, prompt time.Duration) {
	l.never, l.prompt, l.lateRow = never, prompt, lateInRow-1
}

func (l *lateness) late() bool { return l.isLate.Load() }

// add counts an answer of n bytes and reports whether it was late. Calls must not be concurrent.
func (l *lateness) add(took time.Duration, n int) (late bool) {
	if l.never {
		return false
	}
	late = l.isLateAnswer(took, n)
	switch {
	case !l.late() && !late:
		l.lateRow = 0
	case !l.late():
		if l.lateRow++; l.lateRow == lateInRow {
			l.isLate.Store(true)
			l.lateRow, l.answers, l.hits = 0, 0, 0
		}
	default:
		if l.answers++; !late {
			l.hits++
		}
		if l.answers == latenessWindow {
			l.isLate.Store(l.hits < latenessWindow/2)
			l.answers, l.hits = 0, 0
		}
	}
	return late
}

// isLateAnswer reports whether an answer of n bytes is late. It is safe for concurrent use.
func (l *lateness) isLateAnswer(took time.Duration, n int) bool {
	return !l.never && took > l.prompt+time.Duration(n)*promptByte
}
