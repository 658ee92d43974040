package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/wkwfs/wkwfs/internal/guard"
)

// browserTime is how long browserProgram may take to find out that there is no browser. It may go on for as long as the
// browser runs.
const browserTime = 2 * time.Second

// openBrowser opens a URL in the browser of the desktop. It fails if there is none.
func openBrowser(url string) error {
	var stderr bytes.Buffer
	cmd := exec.Command(browserProgram, url)
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go guard.FuncElse("view.browser", func() {
		guard.Pass("view.browser")
		ended <- cmd.Wait()
	}, func(err error) { ended <- err })()
	select {
	case err := <-ended:
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", browserProgram, err), errors.New(stderr.String()))
		}
	case <-time.After(browserTime):
	}
	return nil
}
