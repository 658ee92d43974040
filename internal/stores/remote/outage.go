package remote

import (
	"sync"
	"time"
)

// outage remembers that the server does not answer. A program's read may need several requests, one after the other.
// When the first has failed for as long as the timeout, the others fail at once, for a second. So the read takes one
// timeout, not several.
type outage struct {
	mu    sync.Mutex
	last  *failure // nil: the last request that ended was answered
	ended time.Time
}

const outageTime = time.Second

// record records how a request ended.
func (o *outage) record(f *failure, gaveUp bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !gaveUp {
		o.last = nil
		return
	}
	o.last, o.ended = f, time.Now()
}

// now returns the failure of a request that must not be sent now, or nil.
func (o *outage) now(r request) *failure {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil || time.Since(o.ended) > outageTime {
		return nil
	}
	same := *o.last
	same.method, same.url = r.method, shown(r.url)
	return &same
}
