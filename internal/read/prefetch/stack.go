package prefetch

import (
	"slices"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// Stack is an array whose planes are single files, as in a stack of images. It detects readers that open the planes
// in order. Such a reader reads the files through one [Reader] of the whole array. Other readers of planes read block
// by block, and find blocks of earlier reads in the cache.
type Stack struct {
	prefetcher *Prefetcher
	openArray  func() (a Array, close func())

	mu     sync.Mutex // protects series
	series []*series  // the one with the last opened plane is the last one
}

// series is a set of planes close to each other that one reader opened, perhaps in several threads.
type series struct {
	last       int    // the largest z of a plane that was opened
	opened     uint64 // bit n: plane last−n was opened
	users      int    // open files
	opens      int    // number of calls of Open
	reader     *Reader
	closeArray func() // closes the array of reader
	off        bool   // opening the array has panicked
}

const (
	// nextTo has the bits of series.opened after two planes in order. A reader that opened them may open more of their
	// slab.
	nextTo = 0b11
	// inOrder has the bits of series.opened after four planes in order. A reader that opened them will probably open
	// those of the next slab, too.
	inOrder = 0b1111
	// maxGap is the largest distance of a plane from the last plane of its series. Threads do not open planes in order.
	maxGap = 4
	// maxSeries is the number of series from which a new one replaces an unused one without a Reader.
	maxSeries = 8
	// closeDelay is how long a series with no open file waits for another one.
	closeDelay = 5 * time.Second
)

// NewStack returns a Stack. open opens the array of all planes and returns it with a function that closes it.
func (p *Prefetcher) NewStack(open func() (a Array, close func())) *Stack {
	return &Stack{prefetcher: p, openArray: open}
}

// Open records that the file of plane z was opened. It returns the Reader of all planes if the plane before it was
// opened, too, and nil otherwise. The caller must call closed when the file is closed.
func (s *Stack) Open(z int) (r *Reader, closed func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, isNext := s.add(z)
	x.users++
	x.opens++
	if isNext && x.reader == nil && x.opened&nextTo == nextTo && !x.off {
		err := guard.Do("prefetch.series", func() error { s.openReader(x); return nil })
		x.off = err != nil
		guard.Report(err)
	}
	if x.reader != nil {
		x.tellReader(isNext && x.opened&inOrder == inOrder)
	}
	return x.reader, func() { s.closed(x) }
}

// openReader opens the array of all planes for a series. It is called with mu held.
func (s *Stack) openReader(x *series) {
	guard.Pass("prefetch.series")
	a, closeArray := s.openArray()
	x.reader, x.closeArray = s.prefetcher.NewReader(a, HintSequential), closeArray
	x.reader.plan.undecided, x.reader.plan.alone = true, true // nobody else has it yet
}

// tellReader tells the plan of the reader how many threads read, and whether they will go on.
func (x *series) tellReader(goOn bool) {
	x.reader.mu.Lock()
	defer x.reader.mu.Unlock()
	p := &x.reader.plan
	p.alone = p.alone && x.users == 1
	p.undecided = p.undecided && !goOn
}

// add adds plane z to the series that it is close to, or to a new one. isNext reports whether z is larger than all
// planes of an existing series. It is called with mu held.
func (s *Stack) add(z int) (x *series, isNext bool) {
	i := slices.IndexFunc(s.series, func(x *series) bool { return x.last-maxGap <= z && z <= x.last+maxGap })
	if i < 0 {
		s.makeRoom()
		x = &series{last: z, opened: 1}
		s.series = append(s.series, x)
		return x, false
	}
	x = s.series[i]
	s.series = append(slices.Delete(s.series, i, i+1), x)
	if z <= x.last {
		x.opened |= 1 << (x.last - z)
		return x, false
	}
	x.opened = x.opened<<(z-x.last) | 1
	x.last = z
	return x, true
}

// makeRoom removes an unused series if there are too many. It is called with mu held.
func (s *Stack) makeRoom() {
	if len(s.series) < maxSeries {
		return
	}
	if i := slices.IndexFunc(s.series, func(x *series) bool { return x.users == 0 && x.reader == nil }); i >= 0 {
		s.series = slices.Delete(s.series, i, i+1)
	}
}

// closed records that a file of a series was closed.
func (s *Stack) closed(x *series) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.users--; x.users == 0 {
		opens := x.opens
		time.AfterFunc(closeDelay, guard.Func("prefetch.end", func() { s.end(x, opens) }))
	}
}

// end removes a series and closes its reader, unless a file was opened since it had this number of opens.
func (s *Stack) end(x *series, opens int) {
	if !s.remove(x, opens) || x.reader == nil {
		return
	}
	defer x.closeArray()
	defer x.reader.Close()
	guard.Pass("prefetch.end")
}

func (s *Stack) remove(x *series, opens int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.series, x)
	if i < 0 || x.opens != opens {
		return false
	}
	s.series = slices.Delete(s.series, i, i+1)
	return true
}
