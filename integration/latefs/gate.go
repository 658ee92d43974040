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

// Counts has the number of requests since the last reset.
type Counts struct {
	Reads        int64        `json:"reads"`
	Bytes        int64        `json:"bytes"`         // requested by reads
	MostReads    int          `json:"most_reads"`    // maximum of reads in flight
	Metadata     int64        `json:"metadata"`      // requests other than reads
	MostMetadata int          `json:"most_metadata"` // maximum in flight
	Requests     map[Kind]int `json:"requests"`      // by kind
	Hanging      map[Kind]int `json:"hanging"`       // requests that hang now, by kind
}

// gate counts every request and delays it as the mode requires.
type gate struct {
	mu              sync.Mutex
	mode            Mode
	changed         chan struct{} // closed when the mode changes
	random          *rand.Rand
	counts          Counts
	reads, metadata int // in flight
}

func newGate(m Mode) *gate {
	g := &gate{}
	g.set(m, true)
	return g
}

// set changes the mode. With reset, it also sets the counts to 0.
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
		g.counts = Counts{Requests: map[Kind]int{}, Hanging: hanging, MostReads: g.reads, MostMetadata: g.metadata}
	}
}

// snapshot returns the mode and a copy of the counts.
func (g *gate) snapshot() (Mode, Counts) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.counts
	c.Requests, c.Hanging = maps.Clone(c.Requests), maps.Clone(c.Hanging)
	return g.mode, c
}

// request is one request of the kernel.
type request struct {
	kind        Kind
	n           int             // bytes; only of a read
	thread      uint32          // the caller's
	interrupted <-chan struct{} // closed when the caller gets a signal
}

// pass calls serve after the delay of the mode, and returns its status. If the request is canceled before,
// pass returns EINTR.
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
		g.counts.Metadata++
		g.metadata++
		g.counts.MostMetadata = max(g.counts.MostMetadata, g.metadata)
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
		g.metadata--
	}
}

// hang waits while the mode does not answer requests of this kind. It returns false if the request is
// canceled.
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

// delay waits for the delay of the mode. It returns false if the request is canceled.
func (g *gate) delay(r request) bool {
	g.mu.Lock()
	d, interrupt := g.mode.delay(r.kind, g.random), g.mode.Interrupt
	g.mu.Unlock()
	if d == 0 {
		return true
	}
	expired := make(chan struct{})
	timer := time.AfterFunc(d, func() { close(expired) })
	defer timer.Stop()
	return r.wait(expired, interrupt)
}

// wait returns true when the channel is closed. It returns false if the request is canceled first: with
// interrupt by any signal, otherwise only by the death of the caller.
func (r request) wait(ready <-chan struct{}, interrupt bool) bool {
	select {
	case <-ready:
		return true
	case <-r.interrupted:
	}
	// The kernel reports only the first signal. Later signals have to be polled.
	for !interrupt && !killed(r.thread) {
		select {
		case <-ready:
			return true
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// killed reports whether a thread has ended or has a pending SIGKILL.
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
