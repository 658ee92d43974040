package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"syscall"
	"time"

	boundary "github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// DefaultDepth is the default of [Options].Depth. With answers after 5 ms, a source then gives 64 / 5 ms =
// 12,800 answers a second.
const DefaultDepth = 64

// Options are the options of a [Scheduled].
type Options struct {
	Depth int // maximum number of reads in flight, and of lookups; 0: DefaultDepth

	// Local means that the source is a disk of this machine, and so never late. Its answers take long when all
	// processors are busy, and a hard disk reorders reads that it knows in advance (vfs.Advisor).
	Local bool

	// Hangs means that a request may never be answered: some files may be on another machine, even if the directory is
	// local.
	Hangs bool

	// Remote means that the source is an object store: always late, with an overhead for each request but not for its
	// length, and with errors that do not depend on which bytes are read.
	Remote bool

	// Doubled is that of [vfs.Speed].
	Doubled bool
}

// Scheduled is a file system that measures how long its source takes to answer, and sends requests
// accordingly: one after the other to a prompt source, many at a time to a late source (see [vfs.RangeReader]
// and [vfs.DescribeFS]).
//
// A request is a read or a lookup. A lookup is an open, a stat, a listing or the reading of a link. Each read takes one
// of Depth slots, and each lookup one of as many others, in the order of arrival. A request without an answer keeps its
// slot. Scheduled is safe for concurrent use.
type Scheduled struct {
	fsys    fs.FS
	queue   *queue
	atOnce  bool
	doubled bool
}

var (
	_ fs.StatFS         = (*Scheduled)(nil)
	_ fs.ReadDirFS      = (*Scheduled)(nil)
	_ fs.ReadLinkFS     = (*Scheduled)(nil)
	_ vfs.ListFS        = (*Scheduled)(nil)
	_ vfs.DescribeFS    = (*Scheduled)(nil)
	_ vfs.SpeedReporter = (*Scheduled)(nil)
	_ vfs.KindChecker   = (*Scheduled)(nil)
	_ io.Closer         = (*Scheduled)(nil)
)

// Schedule schedules the requests to a file system. Its files must be readable at any offset: each is an
// [io.ReaderAt] or a [vfs.ContextReaderAt]. Close closes the file system if it is an [io.Closer].
func Schedule(fsys fs.FS, o Options) *Scheduled {
	if o.Depth <= 0 {
		o.Depth = DefaultDepth
	}
	return &Scheduled{fsys, newQueue(o), o.Local && !o.Hangs, o.Doubled}
}

// Speed implements [vfs.SpeedReporter]. It depends on the last reads, not on lookups.
func (s *Scheduled) Speed() vfs.Speed {
	speed := vfs.Speed{Late: s.late(), Near: s.queue.near.near(), AtOnce: s.atOnce, Remote: s.queue.remote,
		Doubled: s.doubled}
	if s.queue.remote || s.queue.reads.distance.late() {
		speed.Long = distantRead
	}
	return speed
}

// distantRead is how many bytes a request to an object store or a distant file server may have without taking much
// longer: 6 ms at 90 MB/s.
const distantRead = 512 << 10

// late reports whether the source is late.
func (s *Scheduled) late() bool { return s.queue.remote || s.queue.reads.lateness.late() }

// ChecksKind implements [vfs.KindChecker].
func (s *Scheduled) ChecksKind() bool {
	c, ok := s.fsys.(vfs.KindChecker)
	return ok && c.ChecksKind()
}

// Close closes the scheduled file system. Open files stay open.
func (s *Scheduled) Close() error {
	if c, ok := s.fsys.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Open opens a file. The file is an [io.Seeker], [fs.ReadDirFile] or [vfs.Advisor] if the file of the source
// is one. If that is readable at any offset, the file is an [io.ReaderAt], [vfs.ContextReaderAt],
// [vfs.RangeReader] and [vfs.SpeedReporter].
func (s *Scheduled) Open(name string) (fs.File, error) {
	f, err := lookup(s, timed, func() (fs.File, error) { return s.fsys.Open(name) })
	if err != nil {
		return nil, err
	}
	return s.opened(f), nil
}

// Stat describes a file. It follows links.
func (s *Scheduled) Stat(name string) (fs.FileInfo, error) {
	return lookup(s, timed, func() (fs.FileInfo, error) { return fs.Stat(s.fsys, name) })
}

// Lstat describes a file. It does not follow a link in the last element of the name.
func (s *Scheduled) Lstat(name string) (fs.FileInfo, error) {
	return lookup(s, timed, func() (fs.FileInfo, error) { return fs.Lstat(s.fsys, name) })
}

// ReadLink returns the target of a symbolic link.
func (s *Scheduled) ReadLink(name string) (string, error) {
	return lookup(s, timed, func() (string, error) { return fs.ReadLink(s.fsys, name) })
}

// ReadDir lists a directory, sorted by name.
func (s *Scheduled) ReadDir(name string) ([]fs.DirEntry, error) {
	return lookup(s, untimed, func() ([]fs.DirEntry, error) { return fs.ReadDir(s.fsys, name) })
}

// List implements [vfs.ListFS]. Each batch is a lookup.
func (s *Scheduled) List(name string) iter.Seq2[[]fs.DirEntry, error] {
	return inTurns(s, vfs.BatchSize, func() iter.Seq2[[]fs.DirEntry, error] { return vfs.List(s.fsys, name) })
}

// inTurns yields the batches of a listing that open starts. It waits for a slot for each batch. A batch of less
// than full entries is the last one.
func inTurns[T any](s *Scheduled, full int, open func() iter.Seq2[[]T, error]) iter.Seq2[[]T, error] {
	type item struct {
		batch []T
		ok    bool
	}
	return func(yield func([]T, error) bool) {
		open := func() iter.Seq2[[]T, error] { return boundary.Seq("store.lookup", open()) }
		next, stop := iter.Pull2(open())
		defer func() { stop() }()
		for first := true; ; first = false {
			i, err := lookup(s, untimed, func() (item, error) {
				batch, err, ok := next()
				if first && errors.Is(err, syscall.EMFILE) { // lookup tries again, with a new listing
					stop()
					next, stop = iter.Pull2(open())
				}
				return item{batch, ok}, err
			})
			if !i.ok && err == nil || !yield(i.batch, err) || err != nil || len(i.batch) < full {
				return
			}
		}
	}
}

const (
	timed   = true
	untimed = false // depends on more than the source, such as the size of a directory or a cache
)

// descriptorRetries is how often a lookup is tried again, a millisecond apart, while the process has too many
// files open. It is not tried again if no other request is in flight, because then no other lookup closes its
// files soon.
const descriptorRetries = 100

// lookup calls call as soon as a slot is free, and returns its results. If timed, the time counts for lateness. A panic
// of call is an error.
func lookup[T any](s *Scheduled, timed bool, call func() (T, error)) (T, error) {
	slot, _ := s.queue.acquire(context.Background(), &s.queue.lookups)
	guarded := func() (T, error) {
		return boundary.Call("store.lookup", func() (T, error) {
			boundary.Pass("store.lookup")
			return call()
		})
	}
	answer, err := guarded()
	for range descriptorRetries {
		if !errors.Is(err, syscall.EMFILE) || s.queue.inFlight() == 1 {
			break
		}
		time.Sleep(time.Millisecond)
		answer, err = guarded()
	}
	s.queue.release(slot, &s.queue.lookups, 0, timed)
	return answer, err
}
