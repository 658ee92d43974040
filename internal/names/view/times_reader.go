package view

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/internal/read/prefetch"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// timesReader reads the volumes of all times as one array. Each time has a [prefetch.Reader] of its own, which is
// opened when it is first needed. It implements voxelReader.
type timesReader struct {
	d    timesDir
	s    *timesState
	head int64 // bytes in the file before the first time
	one  int64 // bytes of a time

	mu     sync.Mutex
	sink   vfs.Sink
	opened []*openTime    // the one that was used last is the last one
	ends   sync.WaitGroup // readers that are being closed
}

// openTime is the reader of a time.
type openTime struct {
	t     int
	users int // reads; guarded by timesReader.mu

	once   sync.Once
	reader *prefetch.Reader
	close  func() // of the snapshot
	err    error
}

func newTimesReader(d timesDir, s *timesState, head int64) *timesReader {
	return &timesReader{d: d, s: s, head: head, one: s.array.Grid.Bytes()}
}

// Size implements voxelReader.
func (r *timesReader) Size() int64 { return r.one * int64(len(r.s.versions)) }

// Push implements voxelReader.
func (r *timesReader) Push(to vfs.Sink) { r.sink = to }

// ReadAt implements voxelReader. It reads up to the end of a time.
func (r *timesReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	t := int(off / r.one)
	at := off - int64(t)*r.one
	o := r.use(t)
	defer r.release(o)
	o.once.Do(func() { r.open(o) })
	if o.err != nil {
		return 0, o.err
	}
	return o.reader.ReadAt(ctx, p[:min(int64(len(p)), r.one-at)], at)
}

// use adds a user to a time.
func (r *timesReader) use(t int) *openTime {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, o := range r.opened {
		if o.t == t {
			r.opened = append(slices.Delete(r.opened, i, i+1), o)
			o.users++
			return o
		}
	}
	o := &openTime{t: t, users: 1, err: errors.New("the time was not opened")} // the error also counts after a panic
	r.opened = append(r.opened, o)
	return o
}

// open opens the reader of a time.
func (r *timesReader) open(o *openTime) {
	snap, err := r.d.snapshotOf(r.s, o.t)
	if err != nil {
		o.err = err
		return
	}
	snap.Open()
	array := snap.array(snap.Bounds(), 0)
	array.Head = r.head + int64(o.t)*r.one
	o.reader, o.close, o.err = r.d.s.fsys.prefetch.NewReader(array, prefetch.NoHint), snap.Close, nil
	o.reader.Push(r.sink)
}

// release ends a use of a time. A time that could not be opened is forgotten. If more than some times are open, the one
// that was not used for the longest time is closed in the background: it waits for its pushes, and a push may wait for
// the read that calls release.
func (r *timesReader) release(o *openTime) {
	for _, old := range r.leave(o) {
		go guard.Func("view.times", func() {
			defer r.ends.Done()
			defer old.end()
			guard.Pass("view.times")
		})()
	}
}

// leave removes a user of a time. It returns the times to close, which are counted in ends.
func (r *timesReader) leave(o *openTime) (old []*openTime) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.users--
	kept := r.opened[:0:0]
	surplus := len(r.opened) - r.d.s.fsys.limits.openTimes
	for _, x := range r.opened {
		switch {
		case x.users > 0:
			kept = append(kept, x)
		case x.err != nil:
			surplus--
		case surplus > 0:
			surplus--
			r.ends.Add(1)
			old = append(old, x)
		default:
			kept = append(kept, x)
		}
	}
	r.opened = kept
	return old
}

func (o *openTime) end() {
	if o.reader != nil {
		defer o.close()
		o.reader.Close()
	}
}

// Close implements voxelReader. No read is in progress.
func (r *timesReader) Close() {
	for _, o := range r.takeAll() {
		o.end()
	}
	r.ends.Wait()
}

func (r *timesReader) takeAll() []*openTime {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.opened
	r.opened = nil
	return all
}
