package web

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

func TestStatusOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{fs.ErrNotExist, http.StatusNotFound},
		{syscall.ENOTDIR, http.StatusNotFound},
		{syscall.ENAMETOOLONG, http.StatusNotFound},
		{fs.ErrInvalid, http.StatusNotFound},
		{syscall.EACCES, http.StatusForbidden},
		{syscall.EMFILE, http.StatusServiceUnavailable},
		{syscall.ENFILE, http.StatusServiceUnavailable},
		{syscall.ENOMEM, http.StatusServiceUnavailable},
		{context.Canceled, http.StatusInternalServerError},
		{vfs.ErrChanged, http.StatusInternalServerError},
		{syscall.EIO, http.StatusInternalServerError},
		{errors.New("bad"), http.StatusInternalServerError},
		{refuse(http.StatusTeapot, "no"), http.StatusTeapot},
		{&readError{fs.ErrNotExist}, http.StatusInternalServerError},
	} {
		if got := statusOf(fmt.Errorf("block 3: %w", c.err)); got != c.want {
			t.Errorf("%v: got %d, expected %d", c.err, got, c.want)
		}
	}
}
