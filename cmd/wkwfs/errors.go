package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/wkwfs/wkwfs/internal/host/daemon"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// Exit codes of all commands. exitHelp lists them.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// errPrinted is returned by a command that has printed its errors.
var errPrinted = daemon.ErrPrinted

// errPrintedUsage is errPrinted with the exit code 2.
var errPrintedUsage = daemon.ErrPrintedUsage

// report prints err as one line and its hint as another, and returns the exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	switch {
	case errors.Is(err, errPrinted):
		return exitFailed
	case errors.Is(err, errPrintedUsage):
		return exitUsage
	}
	fmt.Fprintln(stderr, "wkwfs: "+hint.OneLine(err.Error()))
	var f *hint.Error
	if !errors.As(err, &f) {
		return exitFailed
	}
	if f.Hint != "" {
		fmt.Fprintln(stderr, "hint: "+hint.OneLine(f.Hint))
	}
	if f.Usage {
		return exitUsage
	}
	return exitFailed
}
