// Package copier writes files of an fs.FS to disk: large ones by several ranges at
// once, many small ones at a time, so that a copy that was ended goes on where it
// stopped.
//
// # What is on disk
//
// A file is written as NAME.part and gets its name, with the source's modification
// time and permissions, when it is whole. Beside the part of a file of more than one
// range lies its journal, NAME.part.json: the version and size of the source, and how
// many ranges are written. A later copy goes on from there if the version is the same,
// else it starts over. What the part holds is on disk before the journal says so; a
// copy that is killed loses what it wrote since the last entry.
//
// A file that is there already, with the size and modification time of the source, is
// kept. Holes of the source (vfs.Holed) become holes.
//
// # Order
//
// The ranges of a file are read in rising order, as many at once as there are jobs, and
// the next file begins when they run out. None is more than twice as many ranges from
// the first that is not done. The ranges in flight are thus neighbours: in a flat array
// they are made of the same blocks, which a cache then decodes once.
//
// # Concurrency and memory
//
// Each job is a goroutine with a buffer of 4 MiB. While the source answers late, further
// goroutines help: they have buffers of 64 MiB together, so that many small files or
// some ranges are under way. Copy waits for all of them. A part is locked (flock): two
// copies to the same place do not mix.
package copier

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/parallel"
)

// Options says how to copy.
type Options struct {
	// Jobs is how many ranges are read at once; at least 1.
	Jobs int
	// Depth is how many are while Late reports that the source answers late, and how many files are
	// described at once. 0: Jobs.
	Depth int
	// Late may be nil: then it never does.
	Late func() bool
	// Force replaces files that differ from the source, and copies again those that
	// do not.
	Force bool
	// Select returns the entries of a folder that are to be copied. Nil means all.
	Select func(folder string, entries []fs.DirEntry) []fs.DirEntry
	// Failed is told of each file or folder that cannot be copied, while the others are.
	// It may be called by several goroutines at once, as may Note.
	Failed func(name string, err error)
	// Note is told what the user may wonder about.
	Note func(name, text string)
	// Stats is counted up; it may be read at any time.
	Stats *Stats

	rangeSize   int64 // bytes; 0: RangeSize
	helpersSize int64 // bytes; 0: HelpersSize
	checkpoint  int64 // bytes written between entries in the journal; 0: 512 MiB
}

const (
	// RangeSize is the bytes that are read at once, and the buffer of a job.
	RangeSize = 4 << 20
	// HelpersSize is the bytes of all ranges that goroutines beyond the jobs read.
	HelpersSize = 64 << 20
)

// Stats counts what a copy has found and done. Bytes are those of the files' sizes:
// holes count.
type Stats struct {
	FoundFiles, FoundBytes atomic.Int64 // to be copied in all, as far as is known
	Counted                atomic.Bool  // all is known

	CopiedFiles, CopiedBytes atomic.Int64 // in this run
	KeptFiles, KeptBytes     atomic.Int64 // were there already; bytes: of parts too
	FailedFiles              atomic.Int64
}

// Copy copies a file of src to the target, a path in dst, or a folder of src with all
// that is selected below it. Files that cannot be read, or would replace something
// else, are told to o.Failed and counted; then the error is nil. It is not nil if
// nothing more can be copied: the disk is full, or ctx is done. In any case, the same
// call goes on later.
//
// The versions of src (vfs.VersionOf) must last: another process that looks at the
// same content must find the same.
func Copy(ctx context.Context, src fs.FS, name string, dst *os.Root, target string, o Options) error {
	if o.rangeSize == 0 {
		o.rangeSize = RangeSize
	}
	if o.helpersSize == 0 {
		o.helpersSize = HelpersSize
	}
	if o.checkpoint == 0 {
		o.checkpoint = 512 << 20
	}
	if o.Late == nil {
		o.Late = func() bool { return false }
	}
	o.Depth = max(o.Depth, o.Jobs)
	info, err := fs.Stat(src, name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &copying{Options: o, src: src, dst: dst, ctx: ctx, stop: cancel, begun: map[*file]bool{}}
	c.moved = sync.NewCond(&c.mu)
	walk := c.walk(name, target, info)
	next, stop := iter.Pull(walk)
	defer stop()
	c.next = next

	c.group.Go(func() { c.count(walk) })
	for range o.Jobs {
		c.group.Go(c.work)
	}
	c.group.Wait()
	c.suspendAll()
	return context.Cause(ctx)
}

// item is a file of the source, or something that could not be listed.
type item struct {
	name, target string
	seq          int // among all items of the walk
	stat         func() (fs.FileInfo, error)
	err          error
}

// walk yields the files to be copied, in the order of their names.
func (c *copying) walk(name, target string, info fs.FileInfo) iter.Seq[item] {
	return func(yield func(item) bool) {
		seq := 0
		each := func(i item) bool {
			i.seq = seq
			seq++
			return c.ctx.Err() == nil && yield(i)
		}
		if info.IsDir() {
			c.walkFolder(name, target, each)
			return
		}
		each(item{name: name, target: target, stat: func() (fs.FileInfo, error) { return info, nil }})
	}
}

func (c *copying) walkFolder(name, target string, yield func(item) bool) bool {
	entries, err := fs.ReadDir(c.src, name)
	if err != nil {
		return yield(item{name: name, err: err})
	}
	if c.Select != nil {
		entries = c.Select(name, entries)
	}
	for _, e := range entries {
		from, to := join(name, e.Name()), join(target, e.Name())
		if e.IsDir() {
			if !c.walkFolder(from, to, yield) {
				return false
			}
			continue
		}
		stat := func() (fs.FileInfo, error) { return fs.Stat(c.src, from) }
		if !yield(item{name: from, target: to, stat: stat}) {
			return false
		}
	}
	return true
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// count goes through all files ahead of the copy, so that it can be said how far it is.
func (c *copying) count(walk iter.Seq[item]) {
	size := func(i item) int64 {
		if i.err != nil {
			return -1
		}
		info, err := i.stat()
		if err != nil {
			return -1
		}
		return info.Size()
	}
	for n := range parallel.InOrder(walk, c.Depth, size) {
		if n >= 0 {
			c.Stats.FoundFiles.Add(1)
			c.Stats.FoundBytes.Add(n)
		}
	}
	c.Stats.Counted.Store(true)
}

// destinationError is an error of where is written: nothing more can be copied.
type destinationError struct{ error }

func (e destinationError) Unwrap() error { return e.error }

func destination(err error) error {
	if err == nil {
		return nil
	}
	return destinationError{fmt.Errorf("destination: %w", err)}
}
