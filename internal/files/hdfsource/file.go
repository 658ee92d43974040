package hdfsource

import (
	"io/fs"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// source is an HDF5 file of a file system.
type source struct {
	fsys    fs.FS
	name    string
	current atomic.Pointer[opened]
}

// opened is one version of the file. It stays open: its metadata are read when they are needed.
type opened struct {
	*hdf5.File
	handle fs.File
	info   fs.FileInfo
}

// parse opens the file as it is now.
func (s *source) parse() (*opened, error) {
	f, info, err := vfs.OpenRegular(s.fsys, s.name)
	if err != nil {
		return nil, err
	}
	h, err := hdf5.Open(vfs.ReaderAt{File: f}, info.Size())
	if err != nil {
		err = locatedIn(s.name, max(0, userBlockOf(vfs.ReaderAt{File: f}, info.Size())), err)
		f.Close() // read-only: nothing can be lost
		return nil, err
	}
	o := &opened{h, f, info}
	s.current.Store(o)
	return o, nil
}

// version returns the file as it is now: the open one, if it has not changed.
func (s *source) version() (*opened, error) {
	info, err := fs.Stat(s.fsys, s.name)
	if err != nil {
		return nil, err
	}
	if o := s.current.Load(); vfs.VersionOf(o.info) == vfs.VersionOf(info) {
		return o, nil
	}
	return s.parse()
}

// close closes the file.
func (s *source) close() error { return s.current.Load().handle.Close() }

// Stat describes the file.
func (s *source) Stat() (fs.FileInfo, error) { return fs.Stat(s.fsys, s.name) }
