package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// file is an open file or directory. It implements vfs.Advisor.
type file struct{ *os.File }

// WillNeed starts to read n bytes from off on into the page cache.
func (f file) WillNeed(off, n int64) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	// Advice that is not taken does no harm, so errors do not matter.
	_ = conn.Control(func(fd uintptr) { _ = unix.Fadvise(int(fd), off, n, unix.FADV_WILLNEED) })
}
