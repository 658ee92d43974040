package web

import (
	"errors"
	"net/http"

	"github.com/wkwfs/wkwfs/internal/vfs"
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

// statusOf returns the status for an error. What is nobody else's doing is 500.
func statusOf(err error) int {
	var refused *refusal
	var broken *unreadable
	switch {
	case errors.As(err, &broken):
		return http.StatusInternalServerError
	case errors.As(err, &refused):
		return refused.status
	}
	switch vfs.Classify(err) {
	case vfs.NotExist, vfs.NotDirectory, vfs.NameTooLong, vfs.Invalid:
		return http.StatusNotFound
	case vfs.Permission:
		return http.StatusForbidden
	case vfs.Exhausted:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
