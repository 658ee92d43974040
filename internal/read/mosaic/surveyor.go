package mosaic

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// surveyor takes surveys of a mag, one at a time. All mosaics of the mag share it.
type surveyor struct {
	mag    volume.Mag
	limits limits
	shared bool // other users than that of this process may read files that are made of the cubes

	latest   atomic.Pointer[survey]
	taking   sync.Mutex // held while a survey is taken; readers with a valid survey do not need it
	renewing atomic.Bool
}

// counts reports whether a survey need not be taken again: it is not old, and the mag does not say that it has changed.
func (w *surveyor) counts(s *survey) bool {
	return s.counts() && s.generation == vfs.GenerationOf(w.mag)
}

// last returns the last survey, without I/O.
func (w *surveyor) last() *survey { return w.latest.Load() }

// valid returns a survey that has not expired, and takes one if necessary. If the survey has passed half of its
// lifetime, the next one is taken in the background, so that programs that open one file after another do not wait.
func (w *surveyor) valid() *survey {
	s := w.last()
	if !w.counts(s) {
		w.taking.Lock()
		defer w.taking.Unlock()
		if s = w.last(); !w.counts(s) { // no other goroutine took one before this one had the lock
			s = w.take()
		}
		return s
	}
	if time.Since(s.Asked) > s.Lifetime()/2 && w.renewing.CompareAndSwap(false, true) {
		// The goroutine ends when the source answers. It holds only the surveyor, so nothing has to wait for it.
		go guard.Func("mosaic.survey", func() {
			defer w.renewing.Store(false)
			w.taking.Lock()
			defer w.taking.Unlock()
			guard.Pass("mosaic.survey")
			w.take()
		})()
	}
	return s
}

// fresh returns a survey that started after the call.
func (w *surveyor) fresh() *survey {
	called := time.Now()
	w.taking.Lock()
	defer w.taking.Unlock()
	if s := w.last(); s != nil && s.Asked.After(called) {
		return s
	}
	return w.take()
}

// take takes a survey. The caller holds taking. If the cubes have not changed, the survey shares the map of the last
// one.
func (w *surveyor) take() *survey {
	s, last := takeSurvey(w.mag, w.shared, w.limits.complete), w.last()
	if last != nil && s.cubes != nil && last.cubes != nil && len(*s.cubes) == len(*last.cubes) &&
		s.cubes.hasAll(*last.cubes, volume.Everywhere()) {
		s.cubes = last.cubes
	}
	w.latest.Store(s)
	return s
}
