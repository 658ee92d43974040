// Package atomicfile writes files that are complete as soon as they have their names.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	tempPrefix = "."
	tempSuffix = ".tmp"
)

// Replace calls write with a new file and renames that file to path, in place of an existing file. After an error, path
// is as it was before, and the new file is removed. Errors name path.
//
// Until the end, the new file lies in the directory of path under a name that [IsTemp] recognises. A process that is
// killed leaves it there. Its permissions are perm, before the umask. Replace does not sync: where the content has to
// survive a power failure, write ends with a call of Sync.
func Replace(path string, perm fs.FileMode, write func(*os.File) error) error {
	if err := replace(path, perm, write); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func replace(path string, perm fs.FileMode, write func(*os.File) error) error {
	f, err := Create(path, perm)
	if err != nil {
		return err
	}
	temp := f.Name()
	renamed := false
	defer func() {
		if !renamed { // write failed or panicked
			f.Close()
			os.Remove(temp)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	renamed = true
	return nil
}

// Create creates the new file for path, for those who write it in several steps. They rename it to path, or remove it.
func Create(path string, perm fs.FileMode) (*os.File, error) {
	dir, base := filepath.Split(path)
	temp := filepath.Join(dir, tempPrefix+base+"."+rand.Text()+tempSuffix)
	// os.CreateTemp has no permissions to choose.
	return os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// RenameNew renames a new file to path, unless path exists. Then the error is [fs.ErrExist]. Of several processes that
// do so at the same time, one succeeds, also on file servers without locks. On a file system without hard links,
// several may.
func RenameNew(old, path string) error {
	err := os.Link(old, path)
	switch {
	case err == nil:
		_ = os.Remove(old) // as after a kill, the file has a second name
		return nil
	case errors.Is(err, fs.ErrExist):
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "rename", Path: path, Err: fs.ErrExist}
	}
	return os.Rename(old, path)
}

// SyncDir syncs a directory, so that the names in it survive a power failure.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// IsTemp reports whether the base name is one of a file that [Replace] has not yet renamed.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}
