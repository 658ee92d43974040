package store

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// beneath is a directory that cannot be left. The kernel finds paths in it at one go, and refuses those that lead out:
// openat2, since Linux 5.6. An os.Root opens one directory after the other, and a server is asked each time. It is
// asked instead where the kernel does not decide, and its errors say why a path is refused.
type beneath struct {
	*os.Root
	dir     *os.File
	conn    syscall.RawConn // of dir
	resolve uint64          // what openat2 may follow
}

func openBeneath(name string) (*beneath, error) {
	r, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	dir, err := r.Open(".")
	if err != nil {
		r.Close()
		return nil, err
	}
	conn, err := dir.SyscallConn()
	return &beneath{r, dir, conn, unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}, err
}

// Close lets go of the directory.
func (b *beneath) Close() error { return errors.Join(b.Root.Close(), b.dir.Close()) }

// find opens what the name leads to. It is undecided if the kernel can or will not tell.
func (b *beneath) find(name string, flags uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: b.resolve}
	closed := b.conn.Control(func(dir uintptr) {
		for {
			if fd, err = unix.Openat2(int(dir), name, &how); err != unix.EINTR {
				return
			}
		}
	})
	if closed != nil {
		return -1, errUndecided
	}
	switch err {
	case unix.ENOSYS, unix.EPERM, unix.EINVAL, unix.E2BIG: // not this kernel, or not in this container
		return -1, errUndecided
	case unix.EXDEV, unix.EAGAIN: // it leads out; or ".." was met while something was renamed
		return -1, errUndecided
	}
	return fd, err
}

var errUndecided = errors.New("the kernel does not decide")

func (b *beneath) Stat(name string) (fs.FileInfo, error) {
	return b.stat(name, 0, b.Root.Stat)
}

func (b *beneath) Lstat(name string) (fs.FileInfo, error) {
	return b.stat(name, unix.O_NOFOLLOW, b.Root.Lstat)
}

func (b *beneath) stat(name string, flags uint64, instead func(string) (fs.FileInfo, error)) (fs.FileInfo, error) {
	fd, err := b.find(name, unix.O_PATH|flags)
	switch err {
	case nil:
		defer unix.Close(fd)
		return describe(fd, "", name)
	case errUndecided:
		return instead(name)
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
}

func (b *beneath) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	fd, err := b.find(name, uint64(flag))
	switch err {
	case nil:
		return os.NewFile(uintptr(fd), b.Name()+"/"+name), nil
	case errUndecided:
		return b.Root.OpenFile(name, flag, perm)
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: err}
}

// describe describes an entry of an open directory, a link itself if it is one; or, if the entry is "", what is open.
// name is what errors call it.
func describe(fd int, entry, name string) (fs.FileInfo, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(fd, entry, &st, unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH)
		if err == nil {
			return newInfo(path.Base(name), &st), nil
		}
		if err != unix.EINTR {
			return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
		}
	}
}

// info is what the kernel says of a file, as os.Stat puts it.
type info struct {
	name string
	mode fs.FileMode
	sys  syscall.Stat_t
}

func newInfo(name string, st *unix.Stat_t) *info {
	return &info{name, modeOf(st.Mode), syscall.Stat_t{
		Dev: st.Dev, Ino: st.Ino, Nlink: st.Nlink, Mode: st.Mode, Uid: st.Uid, Gid: st.Gid, Rdev: st.Rdev,
		Size: st.Size, Blksize: st.Blksize, Blocks: st.Blocks,
		Atim: syscall.Timespec(st.Atim), Mtim: syscall.Timespec(st.Mtim), Ctim: syscall.Timespec(st.Ctim),
	}}
}

func (i *info) Name() string       { return i.name }
func (i *info) Size() int64        { return i.sys.Size }
func (i *info) Mode() fs.FileMode  { return i.mode }
func (i *info) ModTime() time.Time { return time.Unix(i.sys.Mtim.Unix()) }
func (i *info) IsDir() bool        { return i.mode.IsDir() }
func (i *info) Sys() any           { return &i.sys }

// modes are the bits of Linux and of Go that mean the same.
var modes = map[uint32]fs.FileMode{
	unix.S_IFBLK:  fs.ModeDevice,
	unix.S_IFCHR:  fs.ModeDevice | fs.ModeCharDevice,
	unix.S_IFDIR:  fs.ModeDir,
	unix.S_IFIFO:  fs.ModeNamedPipe,
	unix.S_IFLNK:  fs.ModeSymlink,
	unix.S_IFSOCK: fs.ModeSocket,
	unix.S_ISGID:  fs.ModeSetgid,
	unix.S_ISUID:  fs.ModeSetuid,
	unix.S_ISVTX:  fs.ModeSticky,
}

func modeOf(m uint32) fs.FileMode {
	return fs.FileMode(m&0o777) | modes[m&unix.S_IFMT] | modes[m&unix.S_ISGID] | modes[m&unix.S_ISUID] | modes[m&unix.S_ISVTX]
}
