package latefs

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
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

// request is what the kernel asks.
type request struct {
	kind        Kind
	n           int             // bytes, of a read
	thread      uint32          // who asks
	interrupted <-chan struct{} // is closed when a signal comes for it
}

// pass has a request answered by serve when the mode says so. If the request is given up before, the answer is EINTR.
func (g *gate) pass(r request, serve func() fuse.Status) fuse.Status {
	g.enter(r)
	defer g.leave(r)
	if !g.hang(r) || !g.delay(r) {
		return fuse.EINTR
	}
	return serve()
}

func (g *gate) enter(r request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts.Requests[r.kind]++
	if r.kind != Read {
		g.counts.Looks++
		g.looks++
		g.counts.MostLooks = max(g.counts.MostLooks, g.looks)
		return
	}
	g.counts.Reads++
	g.counts.Bytes += int64(r.n)
	g.reads++
	g.counts.MostReads = max(g.counts.MostReads, g.reads)
}

func (g *gate) leave(r request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.kind == Read {
		g.reads--
	} else {
		g.looks--
	}
}

// hang waits while requests of the kind hang. It returns false if the request is given up.
func (g *gate) hang(r request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for slices.Contains(g.mode.Hang, r.kind) {
		g.counts.Hanging[r.kind]++
		changed, interrupt := g.changed, g.mode.Interrupt
		g.mu.Unlock()
		answered := r.wait(changed, interrupt)
		g.mu.Lock()
		g.counts.Hanging[r.kind]--
		if !answered {
			return false
		}
	}
	return true
}

// delay waits for as long as the mode says. It returns false if the request is given up.
func (g *gate) delay(r request) bool {
	g.mu.Lock()
	d, interrupt := g.mode.delay(r.kind, g.random), g.mode.Interrupt
	g.mu.Unlock()
	if d == 0 {
		return true
	}
	over := make(chan struct{})
	timer := time.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	return r.wait(over, interrupt)
}

// wait returns true when the channel is closed, and false if the request is given up before: when any signal comes, or
// else when who asks is killed.
func (r request) wait(ready <-chan struct{}, interrupt bool) bool {
	select {
	case <-ready:
		return true
	case <-r.interrupted:
	}
	// The kernel tells of the first signal only.
	for !interrupt && !killed(r.thread) {
		select {
		case <-ready:
			return true
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// killed reports whether a thread has ended, or SIGKILL has come for it.
func killed(thread uint32) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		if name == "State" && (value[0] == 'Z' || value[0] == 'X') {
			return true
		}
		if name != "SigPnd" && name != "ShdPnd" {
			continue
		}
		pending, err := strconv.ParseUint(value, 16, 64)
		if err == nil && pending&(1<<(unix.SIGKILL-1)) != 0 {
			return true
		}
	}
	return false
}
