//go:build linux

package fsnode

import (
	"context"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// grace is the context of a read. It is done gracePeriod after the context of its request. Most reads end before
// anything waits for it, and then it costs nothing: a context of package context would start a goroutine for each read,
// and the kernel would wake a thread for that.
type grace struct {
	request context.Context

	mu      sync.Mutex
	done    context.Context // is done after the grace period; nil: nothing waits for it yet
	release func()          // of done
	ended   bool
}

func newGrace(request context.Context) *grace { return &grace{request: request} }

// Deadline implements [context.Context].
func (g *grace) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value implements [context.Context].
func (g *grace) Value(key any) any { return g.request.Value(key) }

// Done implements [context.Context].
func (g *grace) Done() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watch()
	return g.done.Done()
}

// Err implements [context.Context]. If the request is done, the grace period starts with the first call, at the latest.
func (g *grace) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done == nil && !g.ended && g.request.Err() == nil {
		return nil
	}
	g.watch()
	return g.done.Err()
}

// watch sets g.done. It is called with mu held.
func (g *grace) watch() {
	if g.done != nil {
		return
	}
	done, cancel := context.WithCancel(context.WithoutCancel(g.request))
	g.done = done
	if g.ended {
		cancel()
		return
	}
	stop := context.AfterFunc(g.request, guard.Func("fsnode.interrupted", func() {
		guard.Pass("fsnode.interrupted")
		time.AfterFunc(gracePeriod, guard.Func("fsnode.grace", func() { defer cancel(); guard.Pass("fsnode.grace") }))
	}))
	g.release = func() { stop(); cancel() }
}

// end ends the context. The read has returned.
func (g *grace) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	if g.release != nil {
		g.release()
	}
}
