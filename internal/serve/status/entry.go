package status

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// info describes the directory or a file of this package. As in /proc, the size of a file is 0.
type info struct {
	name string
	mode fs.FileMode
	time time.Time
}

// newInfo describes an entry. Its time is now, because its content is new at each open.
func newInfo(name string, mode fs.FileMode) info {
	return info{path.Base(name), mode, time.Now()}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return 0 }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.time }
func (i info) IsDir() bool        { return i.mode.IsDir() }

// Details says that the content is new at each open, of what is always the same file.
func (i info) Details() vfs.Details {
	return vfs.Details{Live: true, Version: func() vfs.Version { return vfs.Version{1} }}
}

// Sys returns the user and the group of the process as the owner.
func (i info) Sys() any {
	t := syscall.NsecToTimespec(i.time.UnixNano())
	st := &syscall.Stat_t{Uid: uint32(os.Geteuid()), Gid: uint32(os.Getegid())}
	access, modification, change := vfs.StatTimes(st)
	*access, *modification, *change = t, t, t
	return st
}

// openFile is an open file with its content at the time of the open.
type openFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFile) Close() error               { return nil }

// openDir is the open directory.
type openDir struct {
	info fs.FileInfo
	rest []fs.DirEntry // not yet listed
}

var _ fs.ReadDirFile = (*openDir)(nil)

func (d *openDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *openDir) Close() error               { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: Dir, Err: syscall.EISDIR}
}

// ReadDir implements fs.ReadDirFile.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 || len(d.rest) < n {
		if n > 0 && len(d.rest) == 0 {
			return nil, io.EOF
		}
		n = len(d.rest)
	}
	next := d.rest[:n]
	d.rest = d.rest[n:]
	return next, nil
}
