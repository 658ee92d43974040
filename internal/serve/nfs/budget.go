package nfs

import (
	"context"
	"sync"
	"time"
)

// budget bounds the memory of requests in flight, in bytes, and shares it between connections. A connection gets memory
// if it holds no more than is free. So one connection holds about half of it at most, a second one half of the rest,
// and a new one gets some.
//
// If a request has to wait, the connection that holds the most of those whose clients do not read is cut.
type budget struct {
	mu      sync.Mutex
	free    int64
	held    map[*conn]int64
	changed chan struct{} // closed when memory becomes free
}

const (
	// budgetBytes is the memory of all requests in flight.
	budgetBytes = 64 << 20
	// stallTime is how long a client may block a write before its connection can be cut for others.
	stallTime = 2 * time.Second
	// stallPoll is the time between two searches of a waiting request for a stalled connection.
	stallPoll = stallTime / 4
)

func newBudget(bytes int64) *budget {
	return &budget{free: bytes, held: map[*conn]int64{}, changed: make(chan struct{})}
}

// acquire waits for n bytes. It fails with the error of ctx when ctx is done.
func (b *budget) acquire(ctx context.Context, c *conn, n int64) error {
	ok, changed := b.take(c, n)
	if ok {
		return nil
	}
	poll := time.NewTicker(stallPoll)
	defer poll.Stop()
	for {
		b.cutStalled(c, time.Now())
		select {
		case <-changed:
		case <-poll.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if ok, changed = b.take(c, n); ok {
			return nil
		}
	}
}

// take takes n bytes if the connection may have them. Otherwise it returns a channel that is closed when memory becomes
// free.
func (b *budget) take(c *conn, n int64) (ok bool, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.free < n || b.held[c] > b.free {
		return false, b.changed
	}
	b.free -= n
	b.held[c] += n
	return true, nil
}

// release gives n bytes back.
func (b *budget) release(c *conn, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free += n
	if b.held[c] -= n; b.held[c] == 0 {
		delete(b.held, c)
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

// cutStalled cuts the connection that holds the most memory of those that have blocked a write for stallTime. waiting
// is not cut: it only holds itself up.
func (b *budget) cutStalled(waiting *conn, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var worst *conn
	for c, held := range b.held {
		if c != waiting && c.stalled(now) && (worst == nil || held > b.held[worst]) {
			worst = c
		}
	}
	if worst != nil {
		worst.cut()
	}
}
