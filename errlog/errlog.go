// Package errlog writes what is wrong with files to a log, each fault once, however
// often readers meet it: a damaged block that a program reads ten thousand times is
// one line.
package errlog

import (
	"errors"
	"io/fs"
	"log/slog"
	"sync"
)

// maxSeen bounds how many different faults are remembered. After that many the
// memory starts anew, and a fault may be logged a second time.
const maxSeen = 10_000

// Log is where servers report errors. It may be used by many at once.
type Log struct {
	to *slog.Logger

	mu   sync.Mutex
	seen map[string]struct{}
}

// New returns a Log that writes to the logger.
func New(to *slog.Logger) *Log {
	return &Log{to: to, seen: map[string]struct{}{}}
}

// Report writes "cannot op", with the path and the error, if it is the first time that
// this fault is met. Faults are told apart by the text of the error. A path that the
// error begins with does not count, if it is the one reported: so damage that shows in
// many files of a mount, because what is damaged is below them, is one fault.
func (l *Log) Report(op, path string, err error) {
	var outer *fs.PathError
	if errors.As(err, &outer) && outer.Path == path {
		err = outer.Err
	}
	if l.first(err.Error()) {
		l.to.Error("cannot "+op, "path", path, "err", err)
	}
}

// first reports whether the text is met for the first time.
func (l *Log) first(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.seen[text]; ok {
		return false
	}
	if len(l.seen) >= maxSeen {
		clear(l.seen)
	}
	l.seen[text] = struct{}{}
	return true
}
