package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// beneath is a directory that no path leads out of. The kernel resolves a path in one system call and refuses
// paths that lead out (openat2, since Linux 5.6). An os.Root opens one directory after the other, and a file
// server gets a request for each. The os.Root is used if the kernel cannot decide, and for errors that
// explain why a path is refused.
type beneath struct {
	confined
	dir     *os.File
	conn    syscall.RawConn // of dir
	resolve uint64          // flags of openat2
}

func openBeneath(name string) (*beneath, error) {
	r, err := openConfined(name)
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

// Close closes the directory.
func (b *beneath) Close() error { return errors.Join(b.Root.Close(), b.dir.Close()) }

// pathOf returns a path of a file for system calls.
func (b *beneath) pathOf(name string) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s", b.dir.Fd(), name)
}

// openat2 opens a path. The error is errUndecided if the os.Root has to open it.
func (b *beneath) openat2(name string, flags uint64) (fd int, err error) {
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
	case unix.ENOSYS, unix.EPERM, unix.EINVAL, unix.E2BIG: // an old kernel, or forbidden in this container
		return -1, errUndecided
	case unix.EXDEV, unix.EAGAIN: // the path leads out, or has ".." and something was renamed at the same time
		return -1, errUndecided
	}
	return fd, err
}

// errUndecided is the error of openat2 if the kernel cannot decide whether a path leads out of the directory.
var errUndecided = errors.New("the kernel does not decide")

func (b *beneath) Stat(name string) (fs.FileInfo, error) {
	return b.stat(name, 0, b.confined.Stat)
}

func (b *beneath) Lstat(name string) (fs.FileInfo, error) {
	return b.stat(name, unix.O_NOFOLLOW, b.confined.Lstat)
}

func (b *beneath) stat(name string, flags uint64, fallback func(string) (fs.FileInfo, error)) (fs.FileInfo, error) {
	if info, err := b.statEntry(name); err != errUndecided && (err != nil || flags&unix.O_NOFOLLOW != 0 ||
		info.Mode()&fs.ModeSymlink == 0) {
		return info, err
	}
	fd, err := b.openat2(name, unix.O_PATH|flags)
	switch err {
	case nil:
		defer unix.Close(fd)
		return fstatat(fd, "", name)
	case errUndecided:
		return fallback(name)
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
}

// statEntry describes an entry of the directory without following a link, so that it cannot lead out. That is one
// system call, and not three as for other paths.
func (b *beneath) statEntry(name string) (info fs.FileInfo, err error) {
	if name == ".." || strings.Contains(name, "/") {
		return nil, errUndecided
	}
	if closed := b.conn.Control(func(dir uintptr) { info, err = fstatat(int(dir), name, name) }); closed != nil {
		return nil, errUndecided
	}
	return info, err
}

func (b *beneath) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	fd, err := b.openat2(name, uint64(flag))
	switch err {
	case nil:
		return os.NewFile(uintptr(fd), b.Name()+"/"+name), nil
	case errUndecided:
		return b.confined.OpenFile(name, flag, perm)
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: err}
}
