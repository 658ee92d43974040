//go:build linux

package fsnode

import (
	"io/fs"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// infoTimeout is how long a request waits for the attributes of the root, and of a file whose last attributes
// are known. File servers answer sooner unless they have a fault.
const infoTimeout = 100 * time.Millisecond

// lastInfo is the description of the root or of a version of a file, as the source gave it last. There is
// always an answer, even if the source does not answer.
//
// The kernel asks for the attributes of the root before it accesses any path in the mount, even a path that
// does not need the source. It asks for those of an open file when a program seeks to its end or reads there,
// even if the page cache has all of the file.
type lastInfo struct {
	mu       sync.Mutex
	info     fs.FileInfo // the last answer of the source
	inFlight *infoStat   // nil: no stat is in flight
}

// infoStat is a stat in flight. One request starts it, and other requests wait for it.
type infoStat struct {
	start time.Time
	done  chan struct{} // closed after the answer
}

// last returns the last description, or nil.
func (l *lastInfo) last() fs.FileInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.info
}

// set replaces the last description.
func (l *lastInfo) set(info fs.FileInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.info = info
}

// update returns the description that stat returns. If stat fails, or takes longer than infoTimeout, update
// returns the last description.
func (l *lastInfo) update(stat func() (fs.FileInfo, error)) fs.FileInfo {
	s := l.join(stat)
	if wait := infoTimeout - time.Since(s.start); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-s.done:
		case <-timer.C:
		}
	}
	return l.last()
}

// join returns the stat in flight. It starts one if there is none, in a goroutine that ends with the answer
// of the source.
func (l *lastInfo) join(stat func() (fs.FileInfo, error)) *infoStat {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inFlight == nil {
		l.inFlight = &infoStat{time.Now(), make(chan struct{})}
		s := l.inFlight
		go guard.Func("fsnode.attributes", func() { l.run(stat, s) })()
	}
	return l.inFlight
}

// run calls stat and keeps its result.
func (l *lastInfo) run(stat func() (fs.FileInfo, error), s *infoStat) {
	defer close(s.done)
	var answer fs.FileInfo
	defer func() { l.end(answer) }()
	if info, err := stat(); err == nil { // it reports its error
		answer = info
	}
}

// end ends the stat in flight. info is nil if it has failed.
func (l *lastInfo) end(info fs.FileInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight = nil
	if info != nil {
		l.info = info
	}
}
