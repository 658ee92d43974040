package fsnode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

func TestErrnoOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want syscall.Errno
	}{
		{fs.ErrNotExist, syscall.ENOENT},
		{syscall.ENOTDIR, syscall.ENOTDIR},
		{syscall.ENAMETOOLONG, syscall.ENAMETOOLONG},
		{syscall.EPERM, syscall.EACCES},
		{fs.ErrInvalid, syscall.EINVAL},
		{context.Canceled, syscall.EINTR},
		{vfs.ErrChanged, syscall.EIO},
		{syscall.EMFILE, syscall.EMFILE},
		{syscall.ENFILE, syscall.ENFILE},
		{syscall.ENOMEM, syscall.ENOMEM},
		{syscall.ESTALE, syscall.EIO},
		{errors.New("bad"), syscall.EIO},
	} {
		if got := errnoOf(fmt.Errorf("block 3: %w", c.err)); got != c.want {
			t.Errorf("%v: got %v, expected %v", c.err, got, c.want)
		}
	}
}
