package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// The exit codes of every command; the help text names them too.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// failure is an error that knows what the user can do about it.
type failure struct {
	Err   error
	Hint  string // what to try next, often a command line; may be empty
	Usage bool   // the command line is at fault, not the world
}

func (f *failure) Error() string { return f.Err.Error() }
func (f *failure) Unwrap() error { return f.Err }

// usageError says that the command line makes no sense. The hint may be empty.
func usageError(hint, format string, args ...any) error {
	return &failure{Err: fmt.Errorf(format, args...), Hint: hint, Usage: true}
}

// hinted is an error with a hint.
func hinted(hint, format string, args ...any) error {
	return &failure{Err: fmt.Errorf(format, args...), Hint: hint}
}

// errReported is the error of a process that has printed its error already.
var errReported = errors.New("reported already")

// report prints err as one line, and its hint as a second one, and returns the exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	if errors.Is(err, errReported) {
		return exitFailed
	}
	fmt.Fprintln(stderr, "wkwfs: "+oneLine(err.Error()))
	var f *failure
	if !errors.As(err, &f) {
		return exitFailed
	}
	if f.Hint != "" {
		fmt.Fprintln(stderr, "hint: "+oneLine(f.Hint))
	}
	if f.Usage {
		return exitUsage
	}
	return exitFailed
}

// oneLine joins the lines of s: messages of other programs may have several.
func oneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(lines, "; ")
}
