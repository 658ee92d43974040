package save

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// createUnnamed makes a file without a name on the disk of a directory.
func createUnnamed(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil { // not all file systems have it
		return createAndRemove(dir)
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// Sys has owner and times.
func (s *spool) Sys() any {
	at := syscall.NsecToTimespec(s.ModTime().UnixNano())
	return &syscall.Stat_t{Uid: s.uid, Gid: s.gid, Atim: at, Mtim: at, Ctim: at}
}
