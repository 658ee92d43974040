package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// hasDisplay reports whether a browser can have a window.
func hasDisplay(getenv func(string) string) bool {
	return getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
}

// browserTime is how long xdg-open may take to find out that there is no browser. It may go on for as long as the
// browser runs.
const browserTime = 2 * time.Second

// openBrowser opens a URL in the browser of the desktop. It fails if there is none.
func openBrowser(url string) error {
	var stderr bytes.Buffer
	cmd := exec.Command("xdg-open", url)
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return errors.Join(fmt.Errorf("xdg-open: %w", err), errors.New(stderr.String()))
		}
	case <-time.After(browserTime):
	}
	return nil
}
