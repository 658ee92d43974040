package copier

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
)

// Options configures [Copy].
type Options struct {
	// Jobs is how many ranges are copied at once; at least 1.
	Jobs int
	// Depth is how many ranges are copied at once while the source answers late, and how many files are described at
	// once. Less than Jobs means Jobs.
	Depth int
	// Late reports whether the source answers late. Nil means never.
	Late func() bool
	// Force replaces files that differ from the source, and copies files again that do not.
	Force bool
	// Select returns the entries of a directory that are to be copied. Nil means all. A large directory is selected
	// in batches, as vfs.List yields them.
	Select func(dir string, entries []fs.DirEntry) []fs.DirEntry
	// Part copies only the files of a part. All parts together copy all. A directory that cannot be listed is an error
	// of every part. A part may run several times at a time, on any machines that see dst. Its incomplete files are in
	// a directory of its own in dst, which is removed when all its files are complete.
	Part batch.Part
	// Failed is called for each file or directory that cannot be copied. The copy continues with the others.
	// Several goroutines may call Failed and Notice at once.
	Failed func(name string, err error)
	// Notice is called with information for the user.
	Notice func(name, text string)
	// DryRun, if not nil, makes Copy write nothing. It is called for each file that would be copied or kept, with the
	// size of the source, in the order of the walk. Failed is called as in a copy, except for errors of reading and
	// writing. Then dst may be nil, if the destination does not exist.
	DryRun func(name string, size int64, kept bool)
	// Stats is updated during the copy.
	Stats *Stats

	rangeSize   int64 // bytes; 0: RangeSize
	helpersSize int64 // bytes; 0: HelpersSize
	checkpoint  int64 // bytes between two entries of the journal; 0: 512 MiB
	fewPlanned  int   // 0: the constant

	node string // name of this machine; empty: that of thisNode
}

const (
	// RangeSize is the size of a range, and of the buffer of a job, in bytes.
	RangeSize = 4 << 20
	// HelpersSize is the total size of the helpers' buffers, in bytes.
	HelpersSize = 64 << 20
)

// Stats counts the files that a copy found and copied. Bytes are sizes of files, with holes. It may be read at any
// time.
type Stats struct {
	FoundFiles, FoundBytes atomic.Int64 // all files to be copied, as far as they were found
	Counted                atomic.Bool  // all were found

	CopiedFiles, CopiedBytes atomic.Int64 // by this call of Copy
	KeptFiles, KeptBytes     atomic.Int64 // by earlier copies; KeptBytes includes parts
	FailedFiles              atomic.Int64
}

// Copy copies name, a file or directory of src, to target, a path in dst. Of a directory it copies all selected
// entries, at any depth. A file that cannot be read, or that would replace a different file, is passed to o.Failed and
// counted. Copy then continues and returns nil. It returns an error if it cannot continue: a write to dst failed or ctx
// is done. In every case, the same call resumes the copy.
//
// The versions of the files of src (vfs.VersionOf) must be the same in all processes that read the same content.
func Copy(ctx context.Context, src fs.FS, name string, dst *os.Root, target string, o Options) error {
	info, err := fs.Stat(src, name)
	if err != nil {
		return err
	}
	o.setDefaults()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &copier{Options: o, src: src, dst: dst, ctx: ctx, cancel: cancel, openFiles: map[*file]bool{}}
	c.changed = sync.NewCond(&c.mu)
	walk := c.walk(name, target, info)
	if !o.Part.Whole() {
		c.staging = stagingOf(o.Part, cmp.Or(o.node, thisNode()))
		if walk, err = c.shareOf(walk); err != nil {
			return err
		}
	}
	if c.Options.DryRun != nil {
		c.dryRun(walk)
		return context.Cause(ctx)
	}
	defer c.unlockAll()
	next, stop := iter.Pull(walk)
	defer stop()
	c.next = next

	c.group.Go(func() { c.count(walk) })
	for range o.Jobs {
		c.group.Go(c.runJob)
	}
	c.group.Wait()
	c.suspendAll()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return c.removeStaging()
}

func (o *Options) setDefaults() {
	if o.rangeSize == 0 {
		o.rangeSize = RangeSize
	}
	if o.helpersSize == 0 {
		o.helpersSize = HelpersSize
	}
	if o.checkpoint == 0 {
		o.checkpoint = 512 << 20
	}
	o.fewPlanned = cmp.Or(o.fewPlanned, fewPlanned)
	if o.Late == nil {
		o.Late = func() bool { return false }
	}
	o.Depth = max(o.Depth, o.Jobs)
}

// destinationError is an error of writing to the destination. It ends the copy.
type destinationError struct{ error }

func (e destinationError) Unwrap() error { return e.error }

// destination returns err as a destinationError, or nil if err is nil.
func destination(err error) error {
	if err == nil {
		return nil
	}
	return destinationError{fmt.Errorf("destination: %w", err)}
}
