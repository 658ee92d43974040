package prefetch

import (
	"context"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Reader reads an array for one open file, or for several files that are read like one. Many goroutines may call its
// methods at once. Close must be the last call.
type Reader struct {
	prefetcher *Prefetcher
	array      Array
	pusher     pusher

	ctx    context.Context // done when the Reader is closed
	cancel context.CancelFunc
	off    atomic.Bool // nothing is done ahead of the reader any more

	mu     sync.Mutex // protects what follows
	plan   plan
	ledger ledger
}

// Hint is what the opener of a file knows about how it will be read.
type Hint int

const (
	NoHint         Hint = iota
	HintSequential      // from one end to the other, perhaps by several threads
	HintOnce            // all of it, once
)

// Array is what a Reader reads.
type Array struct {
	*flat.Array
	Source *cache.Source
	Head   int64  // bytes in the file before the array
	Name   string // for the log: the path of the mag
}

// NewReader returns a Reader of the array.
func (p *Prefetcher) NewReader(a Array, h Hint) *Reader {
	r := &Reader{prefetcher: p, array: a, pusher: pusher{array: a.Array, head: a.Head}}
	r.plan = newPlan(a.Array, h, p.cache.Reservable()/4, p.limits)
	r.ledger.reader = r
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Array returns the array that is read.
func (r *Reader) Array() *flat.Array { return r.array.Array }

// Push sets the sink for bytes that the Reader decodes before they are read. It must be called before the first read.
func (r *Reader) Push(to vfs.Sink) { r.pusher.sink = to }

// IsReadOnce reports whether a program that reads all of the array once, in large pieces, needs no page cache.
func (r *Reader) IsReadOnce() bool { return r.plan.fewBlocks }

// ReadAt implements [io.ReaderAt] for the bytes of the array, and returns early when ctx is done. A read either
// succeeds or reads nothing: on an error other than io.EOF it returns 0 bytes.
func (r *Reader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	size := r.array.Size()
	switch {
	case off < 0:
		return 0, fs.ErrInvalid
	case off >= size:
		return 0, io.EOF
	}
	var eof error
	if int64(len(p)) > size-off {
		p, eof = p[:size-off], io.EOF
	}
	if r.plan.whole && int64(len(p)) == size {
		if err := r.prefetcher.readWhole(ctx, r.array, p); err != nil {
			return 0, err
		}
		return len(p), eof
	}
	for n := 0; n < len(p); {
		read, err := r.readPart(ctx, p[n:], off+int64(n))
		if err != nil {
			return 0, err
		}
		n += read
	}
	return len(p), eof
}

// readPart reads up to the end of the portion that contains off, or all of p if no portion in memory contains it.
func (r *Reader) readPart(ctx context.Context, p []byte, off int64) (int, error) {
	s, how := r.prepare(ctx, off, int64(len(p)))
	if s != nil {
		if n := s.readAndRelease(ctx, p, off); n > 0 {
			return n, nil
		}
	}
	err := r.array.Fill(p, off, func(blocks []volume.Vec, copyBlock func(at volume.Vec, voxels []byte)) error {
		return r.array.Source.Read(ctx, blocks, how.keep, copyBlock)
	})
	waitPushed(ctx, how.guessed, maxGuessWait)
	return len(p), err
}

const (
	// maxPushWait is how long a read waits until a portion is pushed to the sink. The sink may wait for this read.
	maxPushWait = 100 * time.Millisecond
	// maxGuessWait is the same for the next planes of a patch.
	maxGuessWait = 20 * time.Millisecond
)

// waitPushed waits until pushed is closed, but no longer than d, and reports whether it is closed.
func waitPushed(ctx context.Context, pushed <-chan struct{}, d time.Duration) bool {
	if pushed == nil {
		return false
	}
	select {
	case <-pushed:
		return true
	case <-ctx.Done():
	case <-time.After(d):
	}
	return false
}

// Close cancels loads and pushes in progress, waits for the pushes, and releases all memory.
func (r *Reader) Close() {
	r.cancel()
	r.pusher.running.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.releaseAll()
}
