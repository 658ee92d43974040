//go:build linux

package fsnode

import (
	"io"
	"log/slog"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// brokenLoops panics in the first loop. The others go on until ended is closed.
type brokenLoops struct{ waiting, ended chan struct{} }

func (brokenLoops) Serve() { panic("injected") }

func (l brokenLoops) Wait() {
	close(l.waiting)
	<-l.ended
}

// TestServePanics: after a panic in the first loop, a mount is served until the others have ended.
func TestServePanics(t *testing.T) {
	guard.LogTo(slog.New(slog.NewTextHandler(io.Discard, nil)))
	defer guard.LogTo(nil)
	l := brokenLoops{make(chan struct{}), make(chan struct{})}
	served := serve(l)
	<-l.waiting
	select {
	case <-served:
		t.Error("the mount ended with the first loop")
	default:
	}
	close(l.ended)
	<-served
}
