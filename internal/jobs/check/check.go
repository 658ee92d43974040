// Package check reads all blocks of a source and reports faults.
//
// Several goroutines open cubes and decode blocks, and many more if the source answers late. Memory is bounded: 256 MiB
// of blocks, and the block table of each open cube. Sound blocks are not recorded, so a dataset may have any size.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - While the source answers late, `wkwfs check` and `wkwfs cp` have up to `--io-depth` reads in flight,
//     otherwise as many as `--jobs`. `cp` holds at most 64 MiB beyond the 4 MiB of each job.
//     `TestCheckOfLateSource`, `TestCopyOfLateSource`, `TestLargeFileOfLateSource`
//   - Blocks that are being decoded have at most 256 MiB in `wkwfs check` and 128 MiB in `wkwfs info --preview`,
//     with what is stored and what decoding takes besides. A larger block is decoded alone.
//     `TestMemoryOfCommands`
package check

import (
	"context"
	"path"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/jobs/gaps"
	"github.com/wkwfs/wkwfs/volume"
)

// Severity is the severity of a Finding.
type Severity string

// Severities.

const (
	Error   Severity = "error"   // voxels or metadata cannot be read
	Warning Severity = "warning" // all voxels can be read, but something is wrong
	Note    Severity = "note"    // something was not checked, or nothing reads it
)

// Finding is a fault and its place.
type Finding struct {
	Severity Severity
	Place
	Cube  *volume.Vec // in cubes of the mag; nil if the fault concerns more than a cube, or the source is one cube
	Block *volume.Vec // in blocks of the cube; nil if the fault concerns more than a block
	Err   error       // in most cases, it names the file
}

// Place is the place of a cube, a mag, a layer or a dataset in the source.
type Place struct {
	Path  string // path in the source; "." is the source itself
	Layer string // empty if the source is not a dataset
	Mag   string // empty if the source is not a dataset or layer, or if the place is above a mag
}

func placeOf(layer, mag string) Place {
	p := path.Join(layer, mag)
	if p == "" {
		p = "."
	}
	return Place{p, layer, mag}
}

// below returns the place of a path below p.
func (p Place) below(name string) Place {
	p.Path = path.Join(p.Path, name)
	return p
}

// Stats counts the progress of a check. It may be read during the check.
type Stats struct {
	Cubes  atomic.Int64 // finished
	Blocks atomic.Int64 // read, sound or not
	Bytes  atomic.Int64 // decoded, of sound blocks

	Found   atomic.Int64 // cubes that were counted
	Counted atomic.Bool  // all cubes were counted

	// Plan identifies the cubes of all parts and their stored bytes, if Options.Part is set. It is empty if Run was
	// canceled before it was known. It may be read when Run has returned.
	Plan string
}

// Options configures a check.
type Options struct {
	Jobs   int           // cubes opened at once, and parts of cubes read and decoded at once; at least 1
	Depth  int           // the same while the source answers late; less than Jobs: Jobs
	Late   func() bool   // reports whether the source answers late; nil: it does not
	Count  bool          // also count all cubes; this lists each directory twice
	Gaps   gaps.Options  // where voxels may be missing
	Part   batch.Part    // check only the cubes of this part; see Run
	Stats  *Stats        // not nil
	Report func(Finding) // receives all findings, one call at a time, in any order
}

// Run checks the source. Faults of the source are findings. Run returns an error only if ctx is canceled.
//
// All parts of a source together find what a check of the whole source finds. Faults of metadata, and gaps, are
// findings of the first part. A mag or a directory that cannot be listed is a finding of every part.
func Run(ctx context.Context, root volume.Root, o Options) error {
	if o.Late == nil {
		o.Late = func() bool { return false }
	}
	o.Depth = max(o.Depth, o.Jobs)
	c := &checker{Options: o, ctx: ctx}
	if !o.Part.Whole() {
		c.Count = false // the plan has the number
		if err := c.plan(root); err != nil {
			return err
		}
	}
	var group sync.WaitGroup
	if c.Count {
		group.Go(func() { c.count(root) })
	}
	if c.Part.First() {
		group.Go(func() { c.reportGaps(root) })
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

// checker is the state of one call of Run.
type checker struct {
	Options
	ctx   context.Context
	share *batch.Share       // nil: all cubes
	kept  map[string]planned // what the plan knows of mags, by their paths
	mu    sync.Mutex         // held during Report
}

func (c *checker) report(f Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Report(f)
}
