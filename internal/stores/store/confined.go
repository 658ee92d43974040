package store

import (
	"errors"
	"io/fs"
	"os"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// confined is an os.Root whose error for a link that leads out is [vfs.ErrLeadsOut].
type confined struct {
	*os.Root
	escapes error // of the os.Root, for such a link
}

func openConfined(name string) (confined, error) {
	r, err := os.OpenRoot(name)
	if err != nil {
		return confined{}, err
	}
	_, err = r.Lstat("..") // asks no file system
	var refused *fs.PathError
	if !errors.As(err, &refused) {
		r.Close()
		return confined{}, errors.New("a directory does not refuse its parent")
	}
	return confined{r, refused.Err}, nil
}

// explain replaces the error of a link that leads out.
func (c confined) explain(err error) error {
	if refused, ok := err.(*fs.PathError); ok && refused.Err == c.escapes {
		return &fs.PathError{Op: refused.Op, Path: refused.Path, Err: vfs.ErrLeadsOut}
	}
	return err
}

func (c confined) Stat(name string) (fs.FileInfo, error) {
	info, err := c.Root.Stat(name)
	return info, c.explain(err)
}

func (c confined) Lstat(name string) (fs.FileInfo, error) {
	info, err := c.Root.Lstat(name)
	return info, c.explain(err)
}

func (c confined) Readlink(name string) (string, error) {
	target, err := c.Root.Readlink(name)
	return target, c.explain(err)
}

func (c confined) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := c.Root.OpenFile(name, flag, perm)
	return f, c.explain(err)
}
