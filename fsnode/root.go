package fsnode

import (
	"io/fs"
	"sync"
	"time"
)

// rootPatience is how long the attributes of the root are waited for. File servers answer sooner, unless
// something is wrong with them.
const rootPatience = 100 * time.Millisecond

// root is what the source says of the root. The kernel asks for that before it looks at anything in the
// mount, also at what does not need the source. So there is an answer while the source has none.
type root struct {
	stat   func() (fs.FileInfo, error)
	failed func(error) // called with the error if the source cannot be asked

	mu    sync.Mutex
	info  fs.FileInfo // what the source said last
	asked *question   // nil: nobody waits for the source
}

// question is asked of the source once, by whichever request comes first, and all others wait for its answer.
type question struct {
	since    time.Time
	answered chan struct{} // closed then
}

// get returns what the source says now; what it said last if it fails, or takes longer than rootPatience.
func (r *root) get() fs.FileInfo {
	q := r.ask()
	if wait := rootPatience - time.Since(q.since); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-q.answered:
		case <-timer.C:
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.info
}

// ask asks the source, unless it has yet to answer the last time. The goroutine that waits for the answer ends with it.
func (r *root) ask() *question {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil {
		r.asked = &question{time.Now(), make(chan struct{})}
		go r.renew(r.asked)
	}
	return r.asked
}

func (r *root) renew(q *question) {
	defer close(q.answered)
	a := answerOf(r.stat)
	err := a.err
	if a.panicked != nil {
		err = a.panicked
	}
	if err != nil {
		r.failed(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = nil
	if err == nil {
		r.info = a.value
	}
}
