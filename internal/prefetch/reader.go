package prefetch

import (
	"context"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/flat"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Reader reads an array for one open file, or for several that are read like one. Its methods may be called by many
// goroutines at once; Close is the last one.
type Reader struct {
	shared  *Prefetcher
	array   *flat.Array
	source  *cache.Source
	version vfs.Version // of the array's voxels
	habit   Habit
	pusher  pusher

	ctx    context.Context // done when the Reader is closed
	cancel context.CancelFunc
	group  sync.WaitGroup // of pushes

	mu       sync.Mutex // for what follows
	detector detector
	state    state
	layout   layout
	reserved int64   // bytes of the budget
	pushes   bool    // what of a slab is not read at once goes to the sink
	own      []*slab // the slab that is read, the one before or the next ones, with room for two or more; the oldest one at turn
	turn     int
	widened  int          // number of the slab that more room was made for
	at       int          // number of the slab that the reader has reached
	begun    map[int]bool // slabs of its layer and the next that were begun; none is begun again
	used     time.Time    // when it read last
}

// Habit is what is known of a reader before it reads.
type Habit int

const (
	Unknown Habit = iota
	Ordered       // it reads the array from one end to the other, perhaps in several threads
	Once          // it reads all of the array, once
)

// Array is what a Reader reads.
type Array struct {
	*flat.Array
	Source  *cache.Source
	Version vfs.Version // of its voxels: readers of the same version and blocks share slabs
	Head    int64       // bytes in the file before the array
}

// NewReader returns a Reader of the array.
func (p *Prefetcher) NewReader(a Array, h Habit) *Reader {
	r := &Reader{shared: p, array: a.Array, source: a.Source, version: a.Version, habit: h}
	r.pusher = pusher{array: a.Array, head: a.Head}
	r.detector.plane = a.Plane()
	r.layout = newLayout(a.Array)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Array returns the array that is read.
func (r *Reader) Array() *flat.Array { return r.array }

// Push gives the Reader a sink for bytes that it decodes ahead, before the first read.
func (r *Reader) Push(to vfs.Sink) { r.pusher.sink = to }

// ReadAt follows io.ReaderAt for bytes of the array, and returns early when ctx is done. A read
// succeeds whole or not at all: on an error other than io.EOF n is 0.
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

// readPart reads as far as a slab has the bytes, or to the end of p where no slab has them.
func (r *Reader) readPart(ctx context.Context, p []byte, off int64) (int, error) {
	slab, keep := r.observe(ctx, off, int64(len(p)))
	if slab.slab != nil {
		n := slab.read(ctx, p, off)
		slab.hold.Release()
		if n > 0 {
			return n, nil
		}
	}
	err := r.array.Fill(p, off, func(blocks []volume.Vec, place func(at volume.Vec, voxels []byte)) error {
		return r.source.Read(ctx, blocks, keep, place)
	})
	return len(p), err
}

// patience is how long a read waits for a slab that is being pushed to the sink. The sink may be waiting for that read.
const patience = 100 * time.Millisecond

// observe records a read. It returns the slab that has the first of its bytes, or will have them, with a use of its hold, if
// there is one; and what is to become of the blocks that the read needs if there is none.
func (r *Reader) observe(ctx context.Context, off, n int64) (part, cache.Keep) {
	r.mu.Lock()
	claimed, keep := r.record(off, n)
	var pushed <-chan struct{}
	if claimed.slab == nil && r.pushes && r.state == sequential && r.mayBegin(r.layout.index(off)) && r.own[r.turn] != nil {
		pushed = r.own[r.turn].pushed
	}
	r.mu.Unlock()
	if pushed == nil {
		return claimed, keep
	}
	select {
	case <-pushed:
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.claim(off, n, true), keep
	case <-ctx.Done():
	case <-time.After(patience):
	}
	return part{}, keep
}

// Close gives up what is under way, and waits for what is being pushed.
func (r *Reader) Close() {
	r.cancel()
	r.group.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropAll()
}
