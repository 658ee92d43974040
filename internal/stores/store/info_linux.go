package store

import (
	"io/fs"
	"path"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fstatat describes an entry of an open directory, without following a link. If entry is "", it describes the
// open file. name is the path for errors.
func fstatat(fd int, entry, name string) (fs.FileInfo, error) {
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

// info is an fs.FileInfo like that of os.Stat, from a system call of package unix.
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

// modes maps mode bits of Linux to those of Go.
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
	return fs.FileMode(
		m&0o777) | modes[m&unix.S_IFMT] | modes[m&unix.S_ISGID] | modes[m&unix.S_ISUID] | modes[m&unix.S_ISVTX]
}
