package main

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const barInterval = 200 * time.Millisecond

// bar is a progress bar on a terminal. It is nil if there is no terminal.
type bar struct {
	*progressbar.ProgressBar
	drawn bytes.Buffer
	out   io.Writer
}

// newBar returns a bar, or nil if stderr is not a terminal.
func newBar(stderr io.Writer, options ...progressbar.Option) *bar {
	f, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return barOn(f, append(options, progressbar.OptionFullWidth())...)
}

func barOn(w io.Writer, options ...progressbar.Option) *bar {
	b := &bar{out: w}
	b.ProgressBar = progressbar.NewOptions64(1, append(options, progressbar.OptionSetWriter(&b.drawn))...)
	return b
}

// clear removes the bar, so that lines can be written above it. Errors of a terminal cannot be
// reported.
func (b *bar) clear() {
	if b != nil {
		_ = b.Clear()
		_, _ = b.drawn.WriteTo(b.out)
	}
}

// draw draws the bar after a text. Before anything is done there is no rate, and no bar. Each of the calls draws the
// bar, and only the last one with numbers of one moment. It is what remains on the screen.
func (b *bar) draw(done, all int64, text string) {
	if done == 0 {
		return
	}
	if all = max(all, done+1); all != b.GetMax64() { // a full bar is not drawn again
		b.ChangeMax64(all)
	}
	_ = b.Set64(done)
	b.Describe(text)
	_, _ = b.drawn.WriteTo(b.out)
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
