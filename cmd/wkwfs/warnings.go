package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/jobs/gaps"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/volume"
)

// plainHandler is a slog.Handler that prints warnings and errors as lines for people. print may be called by several
// goroutines at once.
type plainHandler struct {
	print func(line string)
	attrs []slog.Attr
}

// plainLogger returns a logger of lines such as "wkwfs: warning: dataset shown without its metadata: …".
func plainLogger(w io.Writer) *slog.Logger {
	return slog.New(plainHandler{print: func(line string) { fmt.Fprintln(w, "wkwfs: "+line) }})
}

// Enabled implements slog.Handler.
func (plainHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements slog.Handler.
func (h plainHandler) Handle(_ context.Context, r slog.Record) error {
	text, reason := r.Message, ""
	var details []string
	add := func(a slog.Attr) bool {
		if a.Key == "err" {
			reason = ": " + a.Value.String()
		} else {
			details = append(details, a.Key+" "+a.Value.String())
		}
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	if len(details) > 0 {
		text += " (" + strings.Join(details, ", ") + ")"
	}
	if r.Level < slog.LevelError {
		text = "warning: " + text
	}
	h.print(hint.OneLine(text + reason))
	return nil
}

// WithAttrs implements slog.Handler.
func (h plainHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.attrs = append(slices.Clip(h.attrs), attrs...)
	return h
}

// WithGroup implements slog.Handler. Lines have no groups.
func (h plainHandler) WithGroup(string) slog.Handler { return h }

// warnings collects lines for the terminal of a server in the background, until they are taken.
type warnings struct {
	mu    sync.Mutex
	lines []string
	taken bool
}

// maxWarnings limits the lines. The log has all.
const maxWarnings = 20

func (w *warnings) add(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.taken || len(w.lines) > maxWarnings:
	case len(w.lines) == maxWarnings:
		w.lines = append(w.lines, "warning: there are more, in the log")
	default:
		w.lines = append(w.lines, line)
	}
}

// take returns the lines that were collected. No more are collected.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken = true
	return w.lines
}

// also returns a logger that logs to logger, too.
func (w *warnings) also(logger *slog.Logger) *slog.Logger {
	return slog.New(slog.NewMultiHandler(logger.Handler(), plainHandler{print: w.add}))
}

// warnOfGaps logs where voxels may be missing. look says at which names of the source it looks. concerns says which
// layers and mags count, by their paths; nil means all. blocks is the cache of a server that refuses mags of large
// chunks; nil refuses none.
func warnOfGaps(opened *dataset.Dataset, look gaps.Options, blocks *cache.Cache, concerns func(path string) bool,
	logger *slog.Logger) {
	o := look
	o.Unfinished = opened.Unfinished(o.Mags)
	if blocks != nil {
		o.Refuse = func(m volume.Mag, path string) error { return view.Fits(blocks, m, path) }
	}
	for g := range gaps.Find(opened.Root, o) {
		if concerns == nil || concerns(g.Place()) {
			logger.Warn("voxels may be missing", "in", g.Place(), "err", g.Err)
		}
	}
}

// maxLook is how long a server waits for warnings of gaps before it is ready. A mount in the background prints no later
// ones.
const maxLook = time.Second

// waitForGaps waits for the end of lookForGaps, but not long.
func waitForGaps(looked <-chan struct{}) {
	select {
	case <-looked:
	case <-time.After(maxLook):
	}
}

// lookForGaps calls warnOfGaps in the background of a server. The channel is closed at the end. Of a source at a URL,
// only the first mag of each layer is looked at: opening all mags would take more requests than the first reads.
func lookForGaps(opened *dataset.Dataset, path string, blocks *cache.Cache, logger *slog.Logger) <-chan struct{} {
	ended, look := make(chan struct{}), gaps.Sample
	if paths.IsURL(path) {
		look = gaps.Remote
	}
	go guard.Func("gaps.look", func() {
		defer close(ended)
		guard.Pass("gaps.look")
		warnOfGaps(opened, look, blocks, nil, logger)
	})()
	return ended
}
