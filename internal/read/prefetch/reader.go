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
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Reader reads an array for one open file, or for several files that are read like one. Many goroutines may call its
// methods at once. Close must be the last call.
type Reader struct {
	*limits
	prefetcher *Prefetcher
	array      *flat.Array
	source     *cache.Source
	version    vfs.Version // of the voxels
	name       string      // of the array, for the log
	hint       Hint
	pusher     pusher

	ctx    context.Context // done when the Reader is closed
	cancel context.CancelFunc
	pushes sync.WaitGroup

	off       atomic.Bool // nothing is done ahead of the reader any more
	undecided atomic.Bool // the reader may stop in the slab that it has reached: the next one is not started
	alone     atomic.Bool // one thread reads

	mu       sync.Mutex // protects what follows
	detector detector
	patches  patches
	guesses  int // that are being loaded or pushed
	state    state
	window   window
	pushing  bool // portions are pushed to the sink
	lastRead time.Time
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
	Source  *cache.Source
	Version vfs.Version // of its voxels: readers of the same version and blocks share portions
	Head    int64       // bytes in the file before the array
	Name    string      // for the log: the path of the mag
}

// NewReader returns a Reader of the array.
func (p *Prefetcher) NewReader(a Array, h Hint) *Reader {
	r := &Reader{limits: p.limits, prefetcher: p, array: a.Array, source: a.Source, version: a.Version, name: a.Name, hint: h}
	r.pusher = pusher{array: a.Array, head: a.Head}
	r.detector = detector{limits: p.limits, plane: a.PlaneBytes(), head: p.headLength}
	if h == HintOnce && r.isSmall() {
		r.detector.head = 0
	}
	r.patches = newPatches(a.Array, p.cache.Reservable()/4, p.limits)
	r.window = newWindow(newLayout(a.Array, p.limits), 0, 0)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Array returns the array that is read.
func (r *Reader) Array() *flat.Array { return r.array }

// Push sets the sink for bytes that the Reader decodes before they are read. It must be called before the first read.
func (r *Reader) Push(to vfs.Sink) { r.pusher.sink = to }

// ReadAt implements [io.ReaderAt] for the bytes of the array, and returns early when ctx is done. A read either
// succeeds or reads nothing: on an error other than io.EOF it returns 0 bytes.
func (r *Reader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	switch {
	case off < 0:
		return 0, fs.ErrInvalid
	case off >= r.array.Size():
		return 0, io.EOF
	}
	var eof error
	if int64(len(p)) > r.array.Size()-off {
		p, eof = p[:r.array.Size()-off], io.EOF
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
	if r.readsWhole(len(p)) {
		return len(p), r.readWhole(ctx, p)
	}
	portion, how := r.portionFor(ctx, off, int64(len(p)))
	if portion.portion != nil {
		if n := portion.readAndRelease(ctx, p, off); n > 0 {
			return n, nil
		}
	}
	err := r.array.Fill(p, off, func(blocks []volume.Vec, copyBlock func(at volume.Vec, voxels []byte)) error {
		return r.source.Read(ctx, blocks, how.keep, copyBlock)
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

// portionFor records a read and returns the portion that contains its first byte, with a use of the portion's hold, if there
// is one. It also returns how the read gets blocks without a portion. A read does not need what is decided here: a panic switches it off.
func (r *Reader) portionFor(ctx context.Context, off, n int64) (portion portionView, how blockUse) {
	how.keep = cache.IfSeen
	if r.off.Load() {
		return portion, how
	}
	err := guard.Do("prefetch.plan", func() error {
		portion, how = r.plan(ctx, off, n)
		return nil
	})
	if err != nil {
		r.switchOff(err)
	}
	return portion, how
}

// plan is portionFor. If the window has no place for the portion, it waits for one.
func (r *Reader) plan(ctx context.Context, off, n int64) (portionView, blockUse) {
	portion, how, place := r.decide(off, n)
	if place == nil {
		return portion, how
	}
	if !waitPushed(ctx, place, maxPushWait) {
		return portionView{}, how
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.claimPortion(off, n, true), how
}

// decide is plan, but if the window has no place for the portion until another one is pushed, it returns a channel that is closed then.
func (r *Reader) decide(off, n int64) (portion portionView, how blockUse, place <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	guard.Pass("prefetch.plan")
	inSequence, how, next := r.recordRead(off, n)
	portion = r.claimPortion(off, n, inSequence)
	if portion.portion == nil && r.state == random {
		how.guessed = r.startGuess(next, off+n)
	}
	if portion.portion == nil && r.pushing && r.state == sequential && r.window.mayStart(r.window.layout.portionAt(off)) && r.window.oldestPortion() != nil {
		place = r.window.oldestPortion().pushed
	}
	return portion, how, place
}

// switchOff ends everything that is done ahead of the reader, because of a panic there. Then each read gets its blocks through the cache.
func (r *Reader) switchOff(err error) {
	guard.Report(err, "path", r.name)
	r.pusher.refused.Store(true)
	if r.off.Swap(true) {
		return
	}
	guard.Report(guard.Do("prefetch.off", func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		guard.Pass("prefetch.off")
		r.releaseAll()
		return nil
	}), "path", r.name)
}

// Close cancels loads and pushes in progress, waits for the pushes, and releases all memory.
func (r *Reader) Close() {
	r.cancel()
	r.pushes.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.releaseAll()
}
