package web

import (
	"errors"
	"net/http"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// refusal is an error of the request, not of the files.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, text string) error { return &refusal{status, text} }

var errTooManyRequests = refuse(http.StatusServiceUnavailable, "too many requests at once: try again in a second")

// errWrite is the error of a reply that could not be sent to the client.
var errWrite = errors.New("the client does not accept the reply")

// readError is an error of reading a file that is open. Its status is 500 even if the cause is that a file below does
// not exist: the requested file does.
type readError struct{ cause error }

func (e *readError) Error() string { return e.cause.Error() }
func (e *readError) Unwrap() error { return e.cause }

// statusOf returns the HTTP status for an error.
func statusOf(err error) int {
	var refused *refusal
	var unreadable *readError
	switch {
	case errors.As(err, &unreadable):
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
