package edit

import (
	"errors"
	"io/fs"
	"os"

	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
)

// disk is what this package asks of a file system. Tests have one that fails, and one that loses power.
type disk interface {
	Mkdir(path string) error // nil if the directory exists
	Create(path string) (diskFile, error)
	Rename(old, path string) error
	SyncDir(dir string) error
	Remove(path string) error
	Free(dir string) (int64, error) // bytes that may be written
}

// diskFile is a new file.
type diskFile interface {
	Name() string
	Write(p []byte) (int, error)
	Sync() error
	Stat() (fs.FileInfo, error)
	Close() error
}

// osDisk is the file system of the operating system.
type osDisk struct{}

func (osDisk) Mkdir(path string) error {
	if err := os.Mkdir(path, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (osDisk) Create(path string) (diskFile, error) { return atomicfile.Create(path, 0o666) }
func (osDisk) Rename(old, path string) error        { return os.Rename(old, path) }
func (osDisk) SyncDir(dir string) error             { return atomicfile.SyncDir(dir) }
func (osDisk) Remove(path string) error             { return os.Remove(path) }
