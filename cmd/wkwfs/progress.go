package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const barInterval = 200 * time.Millisecond

// bar is a progress bar on a terminal. It is nil if there is no terminal.
type bar struct{ *progressbar.ProgressBar }

// newBar returns a bar, or nil if stderr is not a terminal.
func newBar(stderr io.Writer, options ...progressbar.Option) *bar {
	f, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &bar{progressbar.NewOptions64(1, append(options,
		progressbar.OptionSetWriter(stderr),
		progressbar.OptionFullWidth(),
		progressbar.OptionThrottle(barInterval/2),
	)...)}
}

// clear removes the bar, so that lines can be written above it. Errors of a terminal cannot be
// reported.
func (b *bar) clear() {
	if b != nil {
		_ = b.Clear()
	}
}

// draw draws the bar.
func (b *bar) draw(done, all int64) {
	b.ChangeMax64(max(all, done+1)) // a full bar is not drawn again
	_ = b.Set64(done)
}

// every calls show at an interval until stop is called.
func every(interval time.Duration, show func()) (stop func()) {
	ticker, end := time.NewTicker(interval), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-ticker.C:
				show()
			case <-end:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(end)
		group.Wait()
	}
}
