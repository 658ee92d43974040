package lattice

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/volume"
)

// MaxPositions limits the positions in memory, to 32 MiB: those of one mag, and those of all mags of the process. A mag
// that would exceed it has no list of its chunks in memory.
const MaxPositions = 1 << 22

// free is the number of positions that each set may have in any case: little beside the other memory of a mag, and
// enough for small volumes beside large ones.
const free = 1 << 10

// Budget bounds the positions of all sets that are collected with it. It is safe for concurrent use.
type Budget struct{ left atomic.Int64 }

// NewBudget returns a budget of n positions.
func NewBudget(n int) *Budget {
	b := new(Budget)
	b.left.Store(int64(n))
	return b
}

// All is the budget of the process.
var All = NewBudget(MaxPositions)

// take takes n positions, if there are as many.
func (b *Budget) take(n int64) bool {
	if b.left.Add(-n) >= 0 {
		return true
	}
	b.left.Add(n)
	return false
}

// TooManyError is the error for a mag of more chunks than are listed in memory. All of them can be opened, and walked.
type TooManyError struct {
	Limit  int
	budget *Budget // it had not enough left; nil if the mag alone has more than Limit chunks
	had    int64   // how many positions were collected, and how many were left
}

func (e TooManyError) Error() string {
	if e.budget != nil {
		return fmt.Sprintf("more than %d chunks, together with those of other volumes in memory", e.Limit)
	}
	return fmt.Sprintf("more than %d chunks", e.Limit)
}

// IsTooMany reports whether an error is a TooManyError.
func IsTooMany(err error) bool {
	_, ok := errors.AsType[TooManyError](err)
	return ok
}

// HasPassed reports whether an error is a TooManyError because of other mags, which have given back so much since that
// it is worth listing the chunks again.
func HasPassed(err error) bool {
	e, ok := errors.AsType[TooManyError](err)
	return ok && e.budget != nil && e.budget.left.Load() >= 2*max(e.had, free)
}

// share is the part of a budget that a set has. It is given back when the set is released, or when nothing refers to
// it.
type share struct {
	budget  *Budget
	n       int64
	once    sync.Once
	cleanup runtime.Cleanup
}

func (s *share) release() {
	s.once.Do(func() {
		s.cleanup.Stop()
		s.budget.left.Add(s.n)
	})
}

// Collector makes a set of positions within a budget. It is for one goroutine. It must be followed by a call of
// Positions or Drop.
type Collector struct {
	lattice Lattice
	budget  *Budget
	limit   int
	list    []uint64
	taken   int64 // of the budget
}

// Collect returns an empty collector of positions of a lattice, of at most limit.
func (b *Budget) Collect(l Lattice, limit int) *Collector {
	return &Collector{lattice: l, budget: b, limit: limit}
}

// Add adds a chunk. It may be there already. The error is a [TooManyError]; the collector is empty then, and not to be
// used any more.
func (c *Collector) Add(at volume.Vec) error {
	if len(c.list) >= c.limit {
		return c.compact(at)
	}
	if int64(len(c.list)) == c.taken+free {
		if !c.budget.take(free) {
			return c.compact(at)
		}
		c.taken += free
	}
	c.list = append(c.list, c.lattice.Raster(at))
	return nil
}

// compact adds a chunk to a full collector. It removes what was added twice, if that is enough to be worth while.
func (c *Collector) compact(at volume.Vec) error {
	full := len(c.list)
	slices.Sort(c.list)
	c.list = slices.Compact(c.list)
	if len(c.list) < full-full/16 {
		c.list = append(c.list, c.lattice.Raster(at))
		return nil
	}
	err := TooManyError{Limit: c.limit}
	if full < c.limit {
		err = TooManyError{Limit: MaxPositions, budget: c.budget, had: c.taken + max(c.budget.left.Load(), 0)}
	}
	c.Drop()
	return err
}

// Drop gives back what the collector has taken.
func (c *Collector) Drop() {
	c.budget.left.Add(c.taken)
	c.list, c.taken = nil, 0
}

// Positions returns the set of the chunks. The collector is not to be used any more.
func (c *Collector) Positions() Positions {
	p, budget := NewPositions(c.lattice, c.list), c.budget
	if over := c.taken - max(int64(len(p.sorted))-free, 0); over >= 2*free { // many were there twice
		p.sorted = slices.Clone(p.sorted)
		budget.left.Add(over)
		c.taken -= over
	}
	if c.taken > 0 {
		p.share = &share{budget: budget, n: c.taken}
		p.share.cleanup = runtime.AddCleanup(p.share, func(n int64) { budget.left.Add(n) }, c.taken)
	}
	c.list, c.taken = nil, 0
	return p
}
