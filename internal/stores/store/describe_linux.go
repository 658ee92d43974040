package store

import (
	"io/fs"
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// list implements [lister]. It keeps the directory open, so that stat needs no path.
func (d *Dir) list(dir string) (*listing, error) {
	b, ok := d.root.(*beneath)
	if !ok || !fs.ValidPath(dir) {
		return listByPath(d, dir), nil
	}
	fd, err := b.openat2(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err == errUndecided {
		return listByPath(d, dir), nil
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	f := file{os.NewFile(uintptr(fd), path.Join(b.Name(), dir)), d, dir}
	conn, _ := f.SyscallConn() // fails for nil only
	stat := func(e fs.DirEntry) (fs.FileInfo, error) { return d.statIn(conn, path.Join(dir, e.Name()), e) }
	return &listing{vfs.Batches(f), stat, func() { f.Close() }}, nil
}

// statIn describes an entry of an open directory and follows links. name is its path.
func (d *Dir) statIn(dir syscall.RawConn, name string, e fs.DirEntry) (info fs.FileInfo, err error) {
	if e.Type()&fs.ModeSymlink == 0 {
		if closed := dir.Control(func(fd uintptr) { info, err = fstatat(int(fd), e.Name(), name) }); closed != nil {
			return nil, closed
		}
		switch {
		case err != nil:
			return nil, err
		case info.Mode()&fs.ModeSymlink == 0 && d.guard != nil:
			return d.guard.restrict(name, info, false)
		case info.Mode()&fs.ModeSymlink == 0:
			return info, nil
		}
	}
	return d.Stat(name) // a link may lead out of this directory, but not out of d
}
