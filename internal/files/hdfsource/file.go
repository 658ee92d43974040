package hdfsource

import (
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// source is an HDF5 file of a file system.
type source struct {
	fsys       fs.FS
	name       string
	pieceBytes int
	mu         sync.Mutex             // protects users of all versions, and stores to current
	current    atomic.Pointer[opened] // the newest version; the source is one of its users
}

// opened is one version of the file. It stays open while it has users: its metadata are read when they are needed.
type opened struct {
	*hdf5.File
	handle fs.File
	info   fs.FileInfo
	users  int      // open cubes, and the source
	paths  []string // of datasets that are, or were, kept; protected by the lock of kept
}

// parse opens the file as it is now, with one user.
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
	return &opened{File: h, handle: f, info: info, users: 1}, nil
}

// acquire returns the file as it is now, with one user more: the open one, if it has not changed.
func (s *source) acquire() (*opened, error) {
	info, err := fs.Stat(s.fsys, s.name)
	if err != nil {
		return nil, err
	}
	if o := s.use(vfs.VersionOf(info)); o != nil {
		return o, nil
	}
	now, err := s.parse()
	if err != nil {
		return nil, err
	}
	if o := s.use(vfs.VersionOf(now.info)); o != nil { // it was opened at the same time
		_ = s.release(now) // read-only: nothing can be lost
		return o, nil
	}
	if old := s.replace(now); old != nil {
		_ = s.release(old) // as above
	}
	return now, nil
}

// use adds a user to the newest version, or returns nil if that is another one.
func (s *source) use(version vfs.Version) *opened {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.current.Load()
	if o == nil || vfs.VersionOf(o.info) != version {
		return nil
	}
	o.users++
	return o
}

// replace makes a version the newest one, with the source as a user of it. It returns the version before: the source is
// still a user of that one, too.
func (s *source) replace(now *opened) (old *opened) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now.users++
	return s.current.Swap(now)
}

// release removes a user. Without any, the version is closed, and its datasets are not kept.
func (s *source) release(o *opened) error {
	if s.leave(o) > 0 {
		return nil
	}
	o.forget()
	return o.handle.Close()
}

func (s *source) leave(o *opened) (users int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.users--
	return o.users
}

// close ends the use of the file by the source.
func (s *source) close() error {
	if o := s.current.Load(); o != nil {
		return s.release(o)
	}
	return nil
}

// Stat describes the file.
func (s *source) Stat() (fs.FileInfo, error) { return fs.Stat(s.fsys, s.name) }
