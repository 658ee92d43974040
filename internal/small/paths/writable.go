package paths

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// CheckCreate returns the error that creating files in a directory would have, as far as permissions show it. If the
// directory does not exist, the nearest one above it counts. Nothing is written.
func CheckCreate(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		case err == nil:
			const write, search = 2, 1
			if err := syscall.Access(dir, write|search); err != nil {
				return &fs.PathError{Op: "create", Path: dir, Err: err}
			}
			return nil
		case !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir):
			return err
		}
		dir = filepath.Dir(dir)
	}
}
