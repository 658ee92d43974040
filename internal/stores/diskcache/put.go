package diskcache

import (
	"context"
	"time"
)

const (
	// roomTimeout is how long a flight waits for room among those that are to be written. The requests in flight have
	// requestMemory, so a slow disk holds up reads only if they are faster than requestMemory / roomTimeout, about 250
	// MB/s.
	roomTimeout = 100 * time.Millisecond
	// roomPause is how long no flight waits after one has waited in vain. So a disk that is slower than the source, or
	// hangs, takes at most a tenth of the time of its readers.
	roomPause = time.Second
)

// put takes a flight to be written. It waits a moment if others are to be written before. It returns false if that was
// not enough, if the flight is too large for the cache, or if nothing can be written now.
func (w *writer) put(i item) bool {
	if i.reserve() <= w.cache.options.Size/itemShare && w.acquireRoom(i.room(w)) {
		if w.send(i) {
			return true
		}
		w.room.Release(i.room(w))
	}
	w.cache.counts.dropped.Add(uint64(len(i.data)))
	return false
}

// room returns how much room a flight takes. Those of small objects take more than their bytes, so that there are at
// most maxItems.
func (i item) room(w *writer) int64 { return max(int64(len(i.data)), w.cache.options.Pending/maxItems) }

// acquireRoom waits for room for n bytes, up to roomTimeout.
func (w *writer) acquireRoom(n int64) bool {
	if n > w.cache.options.Pending {
		return false
	}
	if w.room.TryAcquire(n) {
		return true
	}
	if !w.mayWait() {
		return false
	}
	ctx, cancel := context.WithTimeout(w.ctx, w.roomTimeout)
	defer cancel()
	if w.room.Acquire(ctx, n) == nil {
		return true
	}
	w.waitedInVain()
	return false
}

// waitedInVain makes no flight wait for room for a while.
func (w *writer) waitedInVain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waitAgain = time.Now().Add(roomPause)
}

// mayWait reports whether a flight may wait for room.
func (w *writer) mayWait() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	return !w.closed && now.After(w.resume) && now.After(w.waitAgain)
}

// send hands a flight that has room to the goroutine that writes. It returns false if nothing can be written now.
func (w *writer) send(i item) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || time.Now().Before(w.resume) {
		return false
	}
	w.items <- i // does not block: there are at most maxItems
	return true
}
