package diskcache

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

const (
	// batchSize is the most that is written while the lock is held, in bytes, and one flight more. It is less if the
	// cache is small.
	batchSize = 8 << 20
	// batchShare and itemShare are the parts of the size of the cache that a batch, and a flight, have at most.
	batchShare, itemShare = 4, 2
	// maxItems is the maximum number of flights that are not yet written.
	maxItems = 1024
	// pause is how long nothing is written after an error.
	pause = 10 * time.Second
)

// item is a flight to be written.
type item struct {
	*flight
	size int64 // of the object
}

// writer writes flights to the disk. Its goroutine is the only one of the process that writes.
type writer struct {
	cache      *Cache
	access     access
	usage      usage
	touchEvery time.Duration

	items  chan item
	used   chan *piece // their last use is to be written
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}

	room        *semaphore.Weighted // for bytes in items
	roomTimeout time.Duration

	mu        sync.Mutex
	closed    bool
	resume    time.Time // nothing is written before
	waitAgain time.Time // no flight waits for room before
}

func newWriter(c *Cache, a access) *writer {
	w := &writer{
		cache: c, access: a, usage: usage{dir: c.dir, access: a}, touchEvery: touchEvery,
		items: make(chan item, maxItems), used: make(chan *piece, maxItems), ended: make(chan struct{}),
		room: semaphore.NewWeighted(c.options.Pending), roomTimeout: roomTimeout,
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	go guard.Func("diskcache.writer", w.run)()
	return w
}

// touch has the use of a piece written to the disk, if that was not done for a while.
func (w *writer) touch(p *piece) {
	if p.touch(time.Now(), w.touchEvery) {
		select {
		case w.used <- p:
		default: // its age is a minute wrong
		}
	}
}

// close has what is pending written, and ends the goroutine. It gives up when ctx is done.
func (w *writer) close(ctx context.Context) {
	w.closeItems()
	select {
	case <-w.ended:
	case <-ctx.Done():
	}
	w.cancel()
}

// closeItems ends what is to be written.
func (w *writer) closeItems() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		close(w.items)
	}
}

func (w *writer) run() {
	defer close(w.ended)
	defer w.usage.close()
	if used, err := w.usage.read(); err == nil {
		w.cache.counts.used.Store(used)
	}
	for goesOn := true; goesOn; {
		guard.Report(guard.Do("diskcache.writer", func() error { goesOn = w.writeNext(); return nil }))
	}
}

// writeNext writes what comes next. It returns false at the end.
func (w *writer) writeNext() bool {
	select {
	case i, ok := <-w.items:
		if ok {
			defer w.write(w.batch(i))
		}
		w.writeUses()
		return ok
	case p := <-w.used:
		w.writeUse(p)
		return true
	}
}

// writeUses writes the last use of pieces, so that a batch evicts others.
func (w *writer) writeUses() {
	for {
		select {
		case p := <-w.used:
			w.writeUse(p)
		default:
			return
		}
	}
}

func (w *writer) writeUse(p *piece) {
	// A disk to which nothing can be written keeps the old order.
	_ = unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(w.cache.dir, p.id.path()), nil, unix.AT_SYMLINK_NOFOLLOW)
}

// batch returns an item and those that follow, up to batchSize.
func (w *writer) batch(first item) []item {
	batch, n := []item{first}, first.reserve()
	for n < min(batchSize, w.cache.options.Size/batchShare) {
		select {
		case i, ok := <-w.items:
			if !ok {
				return batch
			}
			batch, n = append(batch, i), n+i.reserve()
		default:
			return batch
		}
	}
	return batch
}

// write writes a batch, and forgets its flights. After an error nothing is written for a while.
func (w *writer) write(batch []item) {
	err := guard.Do("diskcache.writer", func() error { return w.writeLocked(batch) })
	guard.Report(err)
	n := 0
	for _, i := range batch {
		n += len(i.data)
		w.room.Release(i.room(w))
		w.cache.flights.forget(i.flight)
	}
	if err != nil {
		w.pause()
		w.cache.counts.dropped.Add(uint64(n))
		w.cache.warnUnwritable(err)
	} else {
		w.cache.counts.written.Add(uint64(n))
	}
}

// pause has nothing written for a while.
func (w *writer) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resume = time.Now().Add(pause)
}

func (w *writer) writeLocked(batch []item) error {
	if err := w.usage.lock(w.ctx); err != nil {
		return err
	}
	defer w.usage.unlock()
	guard.Pass("diskcache.writer")
	var need int64
	for _, i := range batch {
		need += i.reserve()
	}
	used, err := w.makeRoom(need)
	if err != nil {
		return err
	}
	// If the process is killed now, the number is too high until the next eviction.
	if err := w.usage.store(used + need); err != nil {
		return err
	}
	for _, i := range batch {
		var grown int64
		grown, err = w.writeItem(i)
		used += grown
		if err != nil {
			break
		}
	}
	w.cache.counts.used.Store(used)
	return errors.Join(err, w.usage.store(used))
}

// writeItem writes a flight. It returns by how many bytes the cache has grown on the disk.
func (w *writer) writeItem(i item) (grown int64, err error) {
	for off := i.from; off < i.to && err == nil; {
		h := header{pieceID{i.object, off / pieceSize}, i.size}
		n := min(i.to, (h.id.n+1)*pieceSize) - off
		var g int64
		g, err = w.writePiece(h, i.data[off-i.from:][:n], off)
		grown += g
		off += n
	}
	return grown, err
}
