package latefs

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Counts says what was asked for.
type Counts struct {
	Reads     int64        `json:"reads"`
	Bytes     int64        `json:"bytes"`      // that reads asked for
	MostReads int          `json:"most_reads"` // that were in flight at once
	Looks     int64        `json:"looks"`      // requests that are no reads
	MostLooks int          `json:"most_looks"`
	Requests  map[Kind]int `json:"requests"` // of each kind
	Hanging   map[Kind]int `json:"hanging"`  // requests that hang now
}

// gate is what every request passes, and where it waits.
type gate struct {
	mu           sync.Mutex
	mode         Mode
	changed      chan struct{} // is closed when there is another mode
	random       *rand.Rand
	counts       Counts
	reads, looks int // in flight
}

func newGate(m Mode) *gate {
	g := &gate{}
	g.set(m, true)
	return g
}

// set changes the mode. With reset, it counts from 0 on.
func (g *gate) set(m Mode, reset bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.changed != nil {
		close(g.changed)
	}
	g.mode, g.changed = m, make(chan struct{})
	g.random = rand.New(rand.NewPCG(m.Seed, 0))
	if reset {
		hanging := g.counts.Hanging
		if hanging == nil {
			hanging = map[Kind]int{}
		}
		g.counts = Counts{Requests: map[Kind]int{}, Hanging: hanging, MostReads: g.reads, MostLooks: g.looks}
	}
}

// now returns the mode and what was counted.
func (g *gate) now() (Mode, Counts) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.counts
	c.Requests, c.Hanging = maps.Clone(c.Requests), maps.Clone(c.Hanging)
	return g.mode, c
}

// pass has a request answered by serve when the mode says so. If the request is given up before, the answer is EINTR.
func (g *gate) pass(kind Kind, n int, cancel <-chan struct{}, serve func() fuse.Status) fuse.Status {
	g.enter(kind, n)
	defer g.leave(kind)
	if !g.hang(kind, cancel) || !g.delay(kind, cancel) {
		return fuse.EINTR
	}
	return serve()
}

// enter counts a request, a read of n bytes if it is one.
func (g *gate) enter(kind Kind, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts.Requests[kind]++
	if kind != Read {
		g.counts.Looks++
		g.looks++
		g.counts.MostLooks = max(g.counts.MostLooks, g.looks)
		return
	}
	g.counts.Reads++
	g.counts.Bytes += int64(n)
	g.reads++
	g.counts.MostReads = max(g.counts.MostReads, g.reads)
}

func (g *gate) leave(kind Kind) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if kind == Read {
		g.reads--
	} else {
		g.looks--
	}
}

// hang waits while requests of the kind hang. It returns false if the request is given up.
func (g *gate) hang(kind Kind, cancel <-chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for slices.Contains(g.mode.Hang, kind) {
		g.counts.Hanging[kind]++
		changed := g.changed
		g.mu.Unlock()
		given := false
		select {
		case <-changed:
		case <-cancel:
			given = true
		}
		g.mu.Lock()
		g.counts.Hanging[kind]--
		if given {
			return false
		}
	}
	return true
}

// delay waits for as long as the mode says. It returns false if the request is given up.
func (g *gate) delay(kind Kind, cancel <-chan struct{}) bool {
	g.mu.Lock()
	d := g.mode.delay(kind, g.random)
	g.mu.Unlock()
	if d == 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-cancel:
		return false
	}
}
