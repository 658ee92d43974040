package prefetch

import (
	"iter"
	"slices"

	"github.com/wkwfs/wkwfs/internal/small/span"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// target is where pushes go, as far as a plan has to know it: bytes of the file before the array, and pages and pieces
// of the sink.
type target struct{ head, page, piece int64 }

func newTarget(head int64, s vfs.Sink) target { return target{head, s.Page, s.Piece} }

// planesAfterFirst returns what is pushed of a portion of whole planes, in pieces of the file: all but the first plane,
// which the reader is reading.
func (t target) planesAfterFirst(s part) []span.Span {
	first := s.run(0)
	rest := span.Of(first.End(), (s.planes()-1)*first.Len())
	return slices.Collect(rest.Add(t.head).AlignIn(t.page).Cut(t.piece))
}

// runsAfterFirst returns what is pushed of a portion of parts of planes, in pieces of the file. They need not be whole
// pages.
func (t target) runsAfterFirst(s part) iter.Seq[span.Span] {
	return func(yield func(span.Span) bool) {
		for plane := int64(1); plane < s.planes(); plane++ {
			for piece := range s.run(plane).Add(t.head).Cut(t.piece) {
				if !yield(piece) {
					return
				}
			}
		}
	}
}

// rows returns the pages of some rows of plane z, in pieces of the file, without those that reach into other planes.
func (t target) rows(rows span.Span, z, plane int64) iter.Seq[span.Span] {
	in := span.Of(z*plane, plane).Add(t.head)
	return rows.Add(in.Start()).AlignOut(t.page).Clip(in.AlignIn(t.page)).Cut(t.piece)
}

// guessed returns what is pushed of a guess, in pieces of the file: the rest of the plane that is being read, and the
// run of each plane.
func (t target) guessed(g guess, rest span.Span, plane int64) (pieces []span.Span) {
	add := func(rows span.Span, z int64) {
		if !rows.Empty() {
			pieces = slices.AppendSeq(pieces, t.rows(rows, z, plane))
		}
	}
	add(rest, g.from-1)
	for z := g.from; z < g.to; z++ {
		run := g.run
		if g.proof && z == g.to-1 {
			start := t.head + z*plane // in the file
			middle := start + run.Start() + run.Len()/2
			page := span.Of(middle/t.page*t.page, t.page).Add(-start)
			add(run.To(page.Start()), z)
			run = run.From(page.End())
		}
		add(run, z)
	}
	return pieces
}

// guessed returns the part of the array that has the blocks of a guess and of the same rows in the plane before, and
// the rest of the run in the plane that is being read, up to end. ok is false if there is nothing to push, or too much.
func (p *plan) guessed(g guess, end int64, t target) (s part, rest span.Span, ok bool) {
	a := p.layout.array
	plane := a.PlaneBytes()
	reached := end - (g.from-1)*plane // in the plane that is being read
	if g.run.Empty() || reached > plane {
		return s, rest, false // nothing, or the read goes on in the next plane
	}
	if reached > g.run.Start() {
		rest = g.run.From(reached)
	}
	if g.from >= g.to && rest.Empty() {
		return s, rest, false
	}
	rows, page := g.run, p.layout.page
	if plane%page != 0 || (t.head+rows.Start())%page != 0 {
		rows = rows.Grow(page).To(plane) // the pages of other planes start elsewhere
	}
	box, side := a.Box(), a.Grid().Block
	firstY, firstZ := a.RowAt((g.from-1)*plane + rows.Start())
	lastY, lastZ := a.RowAt((g.to-1)*plane + rows.End() - 1)
	part := volume.Box{Min: volume.Vec{box.Min[0], firstY, firstZ}, Max: volume.Vec{box.Max[0], lastY + 1, lastZ + 1}}
	s = partOf(a, part.Div(side).Mul(side).Intersect(box))
	memory := s.memory()
	return s, rest, memory > 0 && memory <= p.layout.maxGuess
}
