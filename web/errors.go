package web

import (
	"errors"
	"io/fs"
	"net/http"
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
