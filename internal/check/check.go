// Package check reads all blocks of a source and tells what is wrong with it.
//
// Cubes are opened, and blocks decoded, by several goroutines at once, and by many while the
// source answers late. What they hold in memory is bounded: 256 MiB of blocks, and for each open cube its
// table. Nothing is kept of what was sound, so that a dataset of any size can be checked.
package check

import (
	"context"
	"path"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/volume"
)

// Severity is how bad a finding is.
type Severity string

const (
	Error   Severity = "error"   // voxels, or what describes them, cannot be read
	Warning Severity = "warning" // all can be read, but something is not as it should be
	Note    Severity = "note"    // something is no part of what was checked
)

// Finding is one thing that is wrong, and where.
type Finding struct {
	Severity Severity
	Place
	Cube  *volume.Vec // in the mag; nil where the finding is above a cube, or the source is one
	Block *volume.Vec // in the cube; nil where the finding is above a block
	Err   error       // says what is wrong; of a file it mostly names the file as well
}

// Place says where in the source something lies.
type Place struct {
	Path  string // of the cube file, or of what is above it; "." is the source
	Layer string // empty where the source is below a dataset
	Mag   string // empty where the source is below a layer, or this is above a mag
}

func placeOf(layer, mag string) Place {
	p := path.Join(layer, mag)
	if p == "" {
		p = "."
	}
	return Place{p, layer, mag}
}

// below is a place further down in the same mag.
func (p Place) below(name string) Place {
	p.Path = path.Join(p.Path, name)
	return p
}

// Stats counts what was done so far. It may be read while a check goes on.
type Stats struct {
	Cubes  atomic.Int64 // done
	Blocks atomic.Int64 // read, sound or not
	Bytes  atomic.Int64 // of sound blocks, decoded

	Found   atomic.Int64 // cubes there are, as far as they were counted
	Counted atomic.Bool  // Found is final
}

// Options says how to check.
type Options struct {
	Jobs   int           // cubes opened, and parts of them read and decoded, at once; at least 1
	Depth  int           // as Jobs, while the source answers late; and directories listed at once. 0: Jobs
	Late   func() bool   // reports whether it does; nil: it does not
	Count  bool          // count the cubes ahead, for which each directory is read twice
	Stats  *Stats        // not nil
	Report func(Finding) // called with one finding at a time, in no particular order
}

// Run checks the source. It returns an error only if ctx ended it: whatever is wrong
// with the source is a finding.
func Run(ctx context.Context, root volume.Root, o Options) error {
	if o.Late == nil {
		o.Late = func() bool { return false }
	}
	o.Depth = max(o.Depth, o.Jobs)
	c := &checking{Options: o, ctx: ctx}
	var group sync.WaitGroup
	if o.Count {
		group.Go(func() { c.count(root) })
	}
	cubes := make(chan cube)
	group.Go(func() {
		defer close(cubes)
		c.walk(root, func(next cube) bool {
			select {
			case cubes <- next:
				return true
			case <-ctx.Done():
				return false
			}
		})
	})
	c.read(cubes)
	group.Wait()
	return ctx.Err()
}

// checking is one call of Run.
type checking struct {
	Options
	ctx context.Context
	mu  sync.Mutex // held around Report
}

func (c *checking) report(f Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Report(f)
}
