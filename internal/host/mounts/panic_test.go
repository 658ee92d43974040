//go:build linux

package mounts

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// TestAskPanics: after a panic in the question to a mount, its error is the answer, and the next question is answered.
func TestAskPanics(t *testing.T) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	defer guard.LogTo(nil)
	restore := guard.Inject(func(place string) {
		if place == "mounts.ask" {
			panic("injected")
		}
	})
	_, err := statfs("/", time.Hour)
	if err == nil || !strings.Contains(err.Error(), "panic in mounts.ask: injected") || IsDead("/") {
		t.Errorf("got %v", err)
	}
	restore()
	if _, err := statfs("/", time.Hour); err != nil {
		t.Error(err)
	}
}
