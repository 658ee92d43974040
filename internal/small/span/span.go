// Package span has ranges of bytes as values that cannot be wrong: a [Span] never starts below 0, never ends before it
// starts, and no method overflows. Code that computes with such ranges asks them for parts instead of subtracting
// offsets. A Span may also be a range of other things with numbers from 0 on, such as chunks on an axis.
//
// What depends on a range of a file, such as the pages to push, is computed in this order: the range that is wanted,
// [Span.Clip] to what exists, [Span.AlignIn] or [Span.AlignOut] to pages, [Span.Empty] to see if anything is left.
package span

import (
	"iter"
	"math"
)

// Span is the range of bytes Start ≤ i < End of a file or an array. 0 ≤ Start ≤ End holds for every Span. The zero Span
// is empty. A Span is a value: methods return new ones.
type Span struct{ start, end int64 }

// New returns the bytes [start, end), as far as they are at 0 or after it. It is empty if end is not after start.
func New(start, end int64) Span {
	start = max(start, 0)
	return Span{start, max(start, end)}
}

// Of returns n bytes from off on, as [New] does.
func Of(off, n int64) Span { return New(off, add(off, max(n, 0))) }

// Start returns the offset of the first byte.
func (s Span) Start() int64 { return s.start }

// End returns the offset after the last byte.
func (s Span) End() int64 { return s.end }

// Len returns the number of bytes.
func (s Span) Len() int64 { return s.end - s.start }

// Empty reports whether the span has no byte.
func (s Span) Empty() bool { return s.start == s.end }

// Contains reports whether the byte at off is in the span.
func (s Span) Contains(off int64) bool { return s.start <= off && off < s.end }

// Clip returns the bytes of s that are also in t. If there are none, the result is empty.
func (s Span) Clip(t Span) Span { return New(max(s.start, t.start), min(s.end, t.end)) }

// From returns the bytes of s from off on.
func (s Span) From(off int64) Span { return New(max(s.start, off), s.end) }

// To returns the bytes of s before off.
func (s Span) To(off int64) Span { return New(s.start, min(s.end, off)) }

// Union returns the smallest span that has all bytes of s and t. It ignores an empty span.
func (s Span) Union(t Span) Span {
	switch {
	case s.Empty():
		return t
	case t.Empty():
		return s
	}
	return Span{min(s.start, t.start), max(s.end, t.end)}
}

// Add returns the span moved by n bytes. What would lie below 0, or after the largest offset, is cut off.
func (s Span) Add(n int64) Span { return New(add(s.start, n), add(s.end, n)) }

// Grow returns the span with n bytes more at both ends, or with less at the start of the file. n is not negative.
func (s Span) Grow(n int64) Span { return New(add(s.start, -n), add(s.end, n)) }

// AlignIn returns the whole units of the span: it starts and ends at a multiple of unit. unit is at least 1.
func (s Span) AlignIn(unit int64) Span {
	start, ok := roundUp(s.start, unit)
	if !ok {
		return Span{s.end, s.end}
	}
	return New(start, s.end/unit*unit)
}

// AlignOut returns the units that the span overlaps. unit is at least 1. The last unit may end at the largest offset
// instead of at a multiple of unit. An empty span stays empty.
func (s Span) AlignOut(unit int64) Span {
	if s.Empty() {
		return s
	}
	end, ok := roundUp(s.end, unit)
	if !ok {
		end = math.MaxInt64
	}
	return Span{s.start / unit * unit, end}
}

// Units returns the numbers of the units that the span overlaps. Unit n starts at n × unit. unit is at least 1.
func (s Span) Units(unit int64) Span {
	if s.Empty() {
		return Span{}
	}
	return Span{s.start / unit, (s.end-1)/unit + 1}
}

// Pieces returns the number of pieces of the span if it is cut at each multiple of unit. unit is at least 1.
func (s Span) Pieces(unit int64) int64 { return s.Units(unit).Len() }

// Piece returns piece i of the span if it is cut at each multiple of unit. It is empty if there is no such piece.
func (s Span) Piece(i, unit int64) Span {
	if i < 0 || i >= s.Pieces(unit) {
		return Span{s.end, s.end}
	}
	return s.Clip(Of((s.start/unit+i)*unit, unit))
}

// Cut yields the pieces of the span if it is cut at each multiple of unit. unit is at least 1.
func (s Span) Cut(unit int64) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for i := range s.Pieces(unit) {
			if !yield(s.Piece(i, unit)) {
				return
			}
		}
	}
}

// roundUp returns n rounded up to a multiple of unit. It returns false if that is no int64.
func roundUp(n, unit int64) (int64, bool) {
	rest := n % unit
	if rest == 0 {
		return n, true
	}
	up := add(n, unit-rest)
	return up, up%unit == 0
}

// add returns a + b, or the nearest number that is one.
func add(a, b int64) int64 {
	sum := a + b
	switch {
	case b > 0 && sum < a:
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	}
	return sum
}
