package prefetch

import (
	"slices"
	"sync"
	"time"
)

// Stack is an array whose planes are files of their own, as a stack of images has them. It finds readers that open
// them one after the other: to a Reader their files are one array, from start to end. Readers of single planes are served
// block by block, and find in the cache what others have read.
type Stack struct {
	shared *Prefetcher
	open   func() (Array, func()) // all of the array

	mu   sync.Mutex // for what follows; find and forget are called with it held
	runs []*run     // the one that was entered last comes last
}

// run is planes close to each other that were opened by one reader, perhaps by several threads of it.
type run struct {
	last   int    // the plane with the largest z that was opened
	opened uint64 // which planes were: the lowest bit is that of the last one, the next that of the one before
	users  int    // open files
	joined int    // how often
	reader *Reader
	close  func() // of the reader's array
}

const (
	// inOrder is planes that follow each other, as bits: a reader that has opened so many wants more.
	inOrder = 0b1111
	// astray is how far from the last plane the next one may be: threads do not open them in order.
	astray = 4
	// maxRuns bounds the runs without a Reader.
	maxRuns = 8
	// linger is how long a run waits for another plane to be opened.
	linger = 5 * time.Second
)

// NewStack returns a Stack. open returns the array, and what to close when it is not read any more.
func (p *Prefetcher) NewStack(open func() (Array, func())) *Stack {
	return &Stack{shared: p, open: open}
}

// Enter records that plane z was opened. It returns the Reader of all planes if the plane follows others in order, else
// nil. leave must be called when the file is closed.
func (s *Stack) Enter(z int) (r *Reader, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, goesOn := s.find(z)
	x.users++
	x.joined++
	if goesOn && x.reader == nil && x.opened&inOrder == inOrder {
		var a Array
		a, x.close = s.open()
		x.reader = s.shared.NewReader(a, Ordered)
	}
	return x.reader, func() { s.leave(x) }
}

// find returns the run that a plane belongs to, a new one if it is close to none, and whether it comes after all that were
// opened there.
func (s *Stack) find(z int) (x *run, goesOn bool) {
	i := slices.IndexFunc(s.runs, func(x *run) bool { return x.last-astray <= z && z <= x.last+astray })
	if i < 0 {
		s.forget()
		x = &run{last: z, opened: 1}
		s.runs = append(s.runs, x)
		return x, false
	}
	x = s.runs[i]
	s.runs = append(slices.Delete(s.runs, i, i+1), x)
	if z <= x.last {
		x.opened |= 1 << (x.last - z)
		return x, false
	}
	x.opened = x.opened<<(z-x.last) | 1
	x.last = z
	return x, true
}

// forget makes room for another run, if there is one that is not used.
func (s *Stack) forget() {
	if len(s.runs) < maxRuns {
		return
	}
	if i := slices.IndexFunc(s.runs, func(x *run) bool { return x.users == 0 && x.reader == nil }); i >= 0 {
		s.runs = slices.Delete(s.runs, i, i+1)
	}
}

// leave records that a file was closed.
func (s *Stack) leave(x *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.users--; x.users == 0 {
		joined := x.joined
		time.AfterFunc(linger, func() { s.end(x, joined) })
	}
}

// end ends a run that was not joined any more.
func (s *Stack) end(x *run, joined int) {
	s.mu.Lock()
	i := slices.Index(s.runs, x)
	if i < 0 || x.joined != joined {
		s.mu.Unlock()
		return
	}
	s.runs = slices.Delete(s.runs, i, i+1)
	s.mu.Unlock()
	if x.reader != nil {
		x.reader.Close()
		x.close()
	}
}
