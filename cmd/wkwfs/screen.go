package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"

	"github.com/wkwfs/wkwfs/internal/jobs/copier"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// screen shows the progress of a copy or an import: a bar on a terminal, else a line every minute.
// It is an io.Writer for messages that must not be mixed with the bar.
type screen struct {
	mu    sync.Mutex
	out   io.Writer
	bar   *bar
	quiet bool
}

const lineInterval = time.Minute

func newScreen(stderr io.Writer, quiet bool) *screen {
	s := &screen{out: stderr, quiet: quiet}
	if !quiet {
		s.bar = newBar(stderr, progressbar.OptionShowBytes(true), progressbar.OptionUseIECUnits(true))
	}
	return s
}

// Write writes lines above the bar.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar.clear()
	return s.out.Write(p)
}

// print prints a text of any kind as one line.
func (s *screen) print(line string) { fmt.Fprintf(s, "wkwfs: %s\n", hint.OneLine(line)) }

// notice prints a line, unless only errors are to be printed.
func (s *screen) notice(line string) {
	if !s.quiet {
		s.print(line)
	}
}

// follow shows the progress of a copy until finish is called, which prints a summary.
func (s *screen) follow(stats *copier.Stats) (finish func()) {
	return s.followWith(
		func() { s.show(stats) },
		func(took time.Duration) string { return summary(stats, took) })
}

// followWith calls show at an interval until finish is called, which prints the summary.
func (s *screen) followWith(show func(), summary func(took time.Duration) string) (finish func()) {
	if s.quiet {
		return func() {}
	}
	start := time.Now()
	interval := lineInterval
	if s.bar != nil {
		interval = barInterval
	}
	stop := every(interval, show)
	return func() {
		stop()
		if text := summary(time.Since(start)); text != "" {
			s.print(text)
		}
	}
}

// show draws the bar, or prints a line. Kept files are not part of the bar: they would make the
// rate too high.
func (s *screen) show(stats *copier.Stats) {
	copied := stats.CopiedBytes.Load()
	all := stats.FoundBytes.Load() - stats.KeptBytes.Load()
	if s.bar == nil {
		of := ""
		if stats.Counted.Load() {
			of = " of " + bytesText(all)
		}
		s.print(bytesText(copied) + of + " copied")
		return
	}
	s.draw(copied, all, "")
}

// draw draws the bar, which must exist, after a text.
func (s *screen) draw(done, all int64, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar.draw(done, all, text)
}

func summary(stats *copier.Stats, took time.Duration) string {
	var b strings.Builder
	bytes := stats.CopiedBytes.Load()
	fmt.Fprintf(&b, "copied %s, %s in %s", filesText(stats.CopiedFiles.Load()), bytesText(bytes),
		took.Round(time.Millisecond))
	if seconds := took.Seconds(); seconds >= 1 {
		fmt.Fprintf(&b, " (%s/s)", bytesText(int64(float64(bytes)/seconds)))
	}
	if kept := stats.KeptFiles.Load(); kept > 0 {
		fmt.Fprintf(&b, "; kept %s", filesText(kept))
	}
	return b.String()
}

func bytesText(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

func filesText(n int64) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}
