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

// bar shows on a terminal how far something is. nil is the bar where there is none.
type bar struct{ *progressbar.ProgressBar }

// newBar returns a bar, or nil where stderr is no terminal.
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

// clear makes room for lines above the bar. What is wrong with a terminal, nobody can be
// told.
func (b *bar) clear() {
	if b != nil {
		_ = b.Clear()
	}
}

// draw draws the bar.
func (b *bar) draw(done, all int64) {
	b.ChangeMax64(max(all, done+1)) // a bar that was full once is not drawn again
	_ = b.Set64(done)
}

// every calls show again and again until stop is called.
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
