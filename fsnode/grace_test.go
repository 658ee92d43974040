//go:build linux

package fsnode

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestGrace: the context of a read ends gracePeriod after that of the request, whether the read waits for it or asks
// it.
func TestGrace(t *testing.T) {
	isDone := func(ctx context.Context) bool {
		select {
		case <-ctx.Done():
			return true
		default:
			return false
		}
	}
	hasError := func(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
	for name, ended := range map[string]func(context.Context) bool{"Done": isDone, "Err": hasError} {
		synctest.Test(t, func(t *testing.T) {
			request, cancel := context.WithCancel(t.Context())
			g := newGrace(request)
			if ended(g) {
				t.Errorf("%s: it is done before the request", name)
			}
			cancel()
			if synctest.Wait(); ended(g) {
				t.Errorf("%s: it is done without a grace period", name)
			}
			if time.Sleep(gracePeriod - time.Second); ended(g) {
				t.Errorf("%s: it is done in the grace period", name)
			}
			if time.Sleep(2 * time.Second); !ended(g) || !isDone(g) || !hasError(g) {
				t.Errorf("%s: it is not done after the grace period", name)
			}
			g.end()
		})
	}
}

// TestGraceEnds: the context is done after the read, and a request that ends later changes nothing.
func TestGraceEnds(t *testing.T) {
	for name, watch := range map[string]bool{"watched": true, "not watched": false} {
		synctest.Test(t, func(t *testing.T) {
			request, cancel := context.WithCancel(context.WithValue(t.Context(), t, name))
			g := newGrace(request)
			if watch {
				_ = g.Done()
			}
			g.end()
			synctest.Wait() // it fails if the context leaves a goroutine
			cancel()
			<-g.Done()
			if _, deadline := g.Deadline(); g.Err() == nil || deadline || g.Value(t) != name {
				t.Errorf("%s: got %v, %v, %v", name, g.Err(), deadline, g.Value(t))
			}
		})
	}
}
