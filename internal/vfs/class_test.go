package vfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

func TestClassify(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x0.wkw")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, missing := os.Stat(filepath.Join(dir, "x1.wkw"))
	_, below := os.Stat(filepath.Join(file, "x0.wkw"))
	_, long := os.Stat(filepath.Join(dir, fmt.Sprintf("%0300d", 0)))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		err  error
		want Class
	}{
		{fs.ErrNotExist, NotExist},
		{missing, NotExist},
		{below, NotDirectory},
		{long, NameTooLong},
		{fs.ErrPermission, Permission},
		{&fs.PathError{Op: "open", Path: "x0.wkw", Err: syscall.EACCES}, Permission},
		{syscall.EPERM, Permission},
		{fs.ErrInvalid, Invalid},
		{canceled.Err(), Interrupted},
		{fmt.Errorf("block 3: %w", context.Canceled), Interrupted},
		{context.DeadlineExceeded, Interrupted},
		{ErrChanged, Changed},
		{fmt.Errorf("x0.wkw: %w", ErrChanged), Changed},
		{&fs.PathError{Op: "open", Path: "x0.wkw", Err: syscall.EMFILE}, Exhausted},
		{syscall.ENFILE, Exhausted},
		{fmt.Errorf("block 3: %w", syscall.ENOMEM), Exhausted},
		{&fs.PathError{Op: "read", Path: "x0.wkw", Err: syscall.EIO}, IO},
		{syscall.ESTALE, IO},
		{syscall.EINVAL, IO}, // not of the request, unlike fs.ErrInvalid
		{syscall.EINTR, IO},
		{errors.New("block 3: bad"), Damaged},
		{io.ErrUnexpectedEOF, Damaged},
		{fs.ErrClosed, Damaged},
		{fmt.Errorf("block 3: %w", &guard.Error{Value: fs.ErrNotExist}), Panicked},

		// Errors with several classes.
		{errors.Join(fs.ErrNotExist, &guard.Error{}), Panicked},
		{fmt.Errorf("%w: %w", syscall.EIO, fs.ErrNotExist), NotExist},
		{fmt.Errorf("%w: %w", syscall.EIO, context.Canceled), Interrupted},
		{fmt.Errorf("%w: %w", ErrChanged, fs.ErrNotExist), NotExist},
		{fmt.Errorf("%w: %w", ErrChanged, context.Canceled), Interrupted},
		{fmt.Errorf("%w: %w", syscall.ESTALE, ErrChanged), Changed},
	} {
		if got := Classify(c.err); got != c.want {
			t.Errorf("%v: got class %d, expected %d", c.err, got, c.want)
		}
	}
}
