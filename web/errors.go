package web

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"
	"syscall"
)

// refusal is an error that is about the request, not about the files.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, text string) error { return &refusal{status, text} }

var errBusy = refuse(http.StatusServiceUnavailable, "too many requests at once: come again in a second")

// errWrite says that the client does not take the reply.
var errWrite = errors.New("the client does not take the reply")

// unreadable is an error of reading what is open: even where something below does
// not exist, the file does.
type unreadable struct{ cause error }

func (u *unreadable) Error() string { return u.cause.Error() }
func (u *unreadable) Unwrap() error { return u.cause }

// statusOf classifies an error. What is nobody else's doing is 500.
func statusOf(err error) int {
	var refused *refusal
	var broken *unreadable
	switch {
	case errors.As(err, &broken):
		return http.StatusInternalServerError
	case errors.As(err, &refused):
		return refused.status
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		return http.StatusNotFound
	case errors.Is(err, fs.ErrPermission):
		return http.StatusForbidden
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// reporter writes each error to the log once, however often it is met.
type reporter struct {
	log *slog.Logger

	mu   sync.Mutex
	seen map[string]struct{}
}

// maxSeen bounds how many different errors are remembered. After that many the
// memory starts anew, and an error may be logged a second time.
const maxSeen = 10_000

func newReporter(log *slog.Logger) *reporter {
	return &reporter{log: log, seen: map[string]struct{}{}}
}

// error reports what is wrong with the path. The path itself does not count, so
// that damage that shows in many files is told once.
func (r *reporter) error(path string, err error) {
	var outer *fs.PathError
	if errors.As(err, &outer) && outer.Path == path {
		err = outer.Err
	}
	if r.first(err.Error()) {
		r.log.Error("cannot read", "path", path, "err", err)
	}
}

// first reports whether the error is met for the first time.
func (r *reporter) first(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.seen[text]; ok {
		return false
	}
	if len(r.seen) >= maxSeen {
		clear(r.seen)
	}
	r.seen[text] = struct{}{}
	return true
}
