package mosaic

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// watch takes surveys of a mag, one at a time. All mosaics of the mag share it.
type watch struct {
	mag    volume.Mag
	shared bool // others than the user who runs this process may read what is made of the cubes

	last     atomic.Pointer[survey]
	taking   sync.Mutex // held while a survey is taken, and only by those who need a new one
	renewing atomic.Bool
}

// A survey is believed for a second, or longer where it takes long to take one: then for as much as makes that a twentieth
// of the time, but not for more than a minute: a server may have stood still.
const (
	surveyBelieved = time.Second
	surveyShare    = 20
	mostBelieved   = time.Minute
)

func (s *survey) believed() time.Duration {
	return min(max(surveyBelieved, surveyShare*s.took), mostBelieved)
}

// old reports whether the survey is no longer believed.
func (s *survey) old() bool { return s == nil || time.Since(s.taken) > s.believed() }

// fresh returns a survey that is believed. If it will not be for long, the next one is taken in the background, so that
// those who open one file after the other do not wait.
func (w *watch) fresh() *survey {
	s := w.last.Load()
	if s.old() {
		w.taking.Lock()
		defer w.taking.Unlock()
		return w.renew()
	}
	if time.Since(s.taken) > s.believed()/2 && w.renewing.CompareAndSwap(false, true) {
		// It ends as soon as the source answers. It holds nothing but the watch, so nobody has to wait for it.
		go func() {
			defer w.renewing.Store(false)
			defer func() { _ = recover() }() // who takes the next one meets the same panic, and can tell of it
			w.taking.Lock()
			defer w.taking.Unlock()
			w.take()
		}()
	}
	return s
}

// now returns a survey that was begun after the call.
func (w *watch) now() *survey {
	called := time.Now()
	w.taking.Lock()
	defer w.taking.Unlock()
	if s := w.last.Load(); s != nil && s.taken.After(called) {
		return s
	}
	return w.take()
}

// renew takes a survey, unless another goroutine has just done so. It is called with taking held.
func (w *watch) renew() *survey {
	if s := w.last.Load(); !s.old() {
		return s
	}
	return w.take()
}

// take takes a survey. It is called with taking held. One that finds what the last one found shares its list of cubes.
func (w *watch) take() *survey {
	s, last := takeSurvey(w.mag, w.shared), w.last.Load()
	if last != nil && s.cubes != nil && last.cubes != nil && len(*s.cubes) == len(*last.cubes) && s.cubes.hasAll(*last.cubes, everywhere) {
		s.cubes = last.cubes
	}
	w.last.Store(s)
	return s
}

// latest returns the last survey, without a look at the source.
func (w *watch) latest() *survey { return w.last.Load() }

// everywhere is a box that has all cubes.
var everywhere = volume.Box{Min: volume.Cube(-1 << 60), Max: volume.Cube(1 << 60)}
