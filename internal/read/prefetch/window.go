package prefetch

import (
	"maps"
	"slices"
)

// window is the portions that a Reader has, and how far the reader is in them. It is protected by mu of the Reader. A new window has no
// places for portions.
type window struct {
	layout    layout
	thin      bool         // portions are single slabs because a disk cache answers for the source
	reserved  int64        // bytes of the budget
	portions  []*portion   // the portion that is read, and the one before or those after it; nil where there is none yet
	oldest    int          // index of the portion that is replaced next
	grownAt   int          // number of the portion at which the window last grew
	reached   int          // number of the portion that the reader has reached
	started   map[int]bool // portions of the reached slab and the next one that were started; they are not started again
	announced int          // number of the portion after the last one that was announced to the source
}

// newWindow returns a window with n places for portions of a layout, and their reserved memory in bytes.
func newWindow(l layout, n int, reserved int64) window {
	return window{layout: l, portions: make([]*portion, n), reserved: reserved}
}

// enter records that a reader starts with portion i.
func (w *window) enter(i int) { w.reached, w.started, w.announced = i, map[int]bool{}, 0 }

// advance records that the reader has reached portion i. jumped says that it may read portions again.
func (w *window) advance(i int, jumped bool) {
	if jumped {
		w.started = map[int]bool{}
	} else if i <= w.reached {
		return
	}
	w.reached = i
	maps.DeleteFunc(w.started, func(i int, _ bool) bool { return i < w.layout.slabStart(w.reached) })
}

// inReachedSlab reports whether off lies in the slab that the reader has reached, or in the first portion of the next
// slab. If portions are pushed, the reads of a sequential reader have gaps: it reads the first plane of a slab, in
// which one read may span several portions, and finds the other planes in the page cache, except for some pages. Its
// next read is at the start of the next slab.
func (w *window) inReachedSlab(off int64) bool {
	i, start := w.layout.portionAt(off), w.layout.slabStart(w.reached)
	return i >= start && i <= start+w.layout.portionsPerSlab()
}

// mayStart reports whether portion i was not started before. A portion that was started and is needed again would be
// started for each of its planes.
func (w *window) mayStart(i int) bool {
	return i >= w.layout.slabStart(w.reached) && !w.started[i]
}

// next returns the number of the portion that is read after portion i. A reader that became sequential in the middle of a
// plane needs the first portions of the slab for the next plane.
func (w *window) next(i int) int {
	if (i+1)%w.layout.portionsPerSlab() == 0 {
		for first := w.layout.slabStart(i); first < i; first++ {
			if !w.started[first] {
				return first
			}
		}
	}
	return i + 1
}

// oldestPortion returns the portion whose place the next one gets, or nil if that place is free.
func (w *window) oldestPortion() *portion { return w.portions[w.oldest] }

// newestPortion returns the portion that was placed last, or nil if there is none.
func (w *window) newestPortion() *portion {
	return w.portions[(w.oldest+len(w.portions)-1)%len(w.portions)]
}

// put puts portion i in the place of the oldest portion.
func (w *window) put(i int, s *portion) {
	w.portions[w.oldest] = s
	w.oldest = (w.oldest + 1) % len(w.portions)
	w.started[i] = true
}

// grow adds a place.
func (w *window) grow() { w.portions = slices.Insert(w.portions, w.oldest, nil) }

// inUse reports whether a portion is being decoded, pushed or read.
func (w *window) inUse() bool {
	return slices.ContainsFunc(w.portions, func(s *portion) bool { return s != nil && s.hold.InUse() })
}
