package web

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// slotTimeout is how long a request waits for a slot before it gets status 503.
	slotTimeout = 10 * time.Second
	// slotStall is how long a client may block a write before its slot can be given to a waiting request.
	slotStall = 2 * time.Second
	// slotPoll is the time between two searches of a waiting request for a stalled one.
	slotPoll = slotStall / 4
)

// slots limits how many requests are answered at once, and shares them between clients, which are IP addresses. A
// client gets a slot if it holds no more slots than are free. So one client holds at most half of all slots, a second
// one half of the rest, and a new client gets one.
//
// If a request has to wait, and clients block their writes, the longest blocked request of the client with the most
// slots is cut.
type slots struct {
	mu         sync.Mutex
	free       int
	maxWaiting int // requests
	waiting    int // requests
	held       map[*slot]struct{}
	used       map[string]int // slots of each client that holds some
	changed    chan struct{}  // closed when a slot becomes free
}

// slot belongs to one request that is being answered.
type slot struct {
	client  string
	control *http.ResponseController
	blocked atomic.Int64 // when the write in flight started, in Unix nanoseconds; 0: there is none
	cut     atomic.Bool
}

func newSlots(n int) *slots {
	return &slots{free: n, maxWaiting: 4 * n, held: map[*slot]struct{}{}, used: map[string]int{},
		changed: make(chan struct{})}
}

// acquire returns a slot for a request of the client at the address. The caller must release it. acquire fails with
// errTooManyRequests if too many requests wait, or after slotTimeout, and with the error of ctx when ctx is done.
func (s *slots) acquire(ctx context.Context, address string, control *http.ResponseController) (*slot, error) {
	client := address
	if host, _, err := net.SplitHostPort(address); err == nil {
		client = host
	}
	mine := &slot{client: client, control: control}
	if ok, _ := s.take(mine); ok {
		return mine, nil
	}
	if !s.queue(1) {
		return nil, errTooManyRequests
	}
	defer s.queue(-1)
	timeout, poll := time.NewTimer(slotTimeout), time.NewTicker(slotPoll)
	defer timeout.Stop()
	defer poll.Stop()
	for {
		ok, changed := s.take(mine)
		if ok {
			return mine, nil
		}
		s.cutStalled(time.Now())
		select {
		case <-changed:
		case <-poll.C:
		case <-timeout.C:
			return nil, errTooManyRequests
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// queue adds n to the number of waiting requests. If the sum is above maxWaiting, queue changes nothing and returns
// false.
func (s *slots) queue(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting+n > s.maxWaiting {
		return false
	}
	s.waiting += n
	return true
}

// take takes the slot if its client may have one more. Otherwise it returns a channel that is closed when a slot
// becomes free.
func (s *slots) take(mine *slot) (ok bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 || s.used[mine.client] > s.free {
		return false, s.changed
	}
	s.free--
	s.used[mine.client]++
	s.held[mine] = struct{}{}
	return true, nil
}

// release gives a slot back.
func (s *slots) release(old *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, old)
	s.free++
	if s.used[old.client]--; s.used[old.client] == 0 {
		delete(s.used, old.client)
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// cutStalled cuts the request that has blocked longest, of the client with the most slots among those that have blocked
// for slotStall.
func (s *slots) cutStalled(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var worst *slot
	for x := range s.held {
		since := x.blocked.Load()
		if since == 0 || x.cut.Load() || now.Sub(time.Unix(0, since)) < slotStall {
			continue
		}
		if worst == nil || s.used[x.client] > s.used[worst.client] || s.used[x.client] == s.used[worst.client] &&
			since < worst.blocked.Load() {
			worst = x
		}
	}
	if worst != nil {
		worst.cut.Store(true)
		_ = worst.control.SetWriteDeadline(now) // in tests there may be no deadlines
	}
}

// write calls write and records when it started. It fails if the request was cut. A nil slot only calls write.
func (s *slot) write(write func() (int, error)) (int, error) {
	if s == nil {
		return write()
	}
	s.blocked.Store(time.Now().UnixNano())
	defer s.blocked.Store(0)
	if s.cut.Load() {
		return 0, errWrite
	}
	return write()
}
