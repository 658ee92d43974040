//go:build darwin || freebsd

package terminal

import "golang.org/x/sys/unix"

// discardInput discards what a terminal has sent and no program has read.
func discardInput(fd int) {
	const read = 1 // FREAD of sys/fcntl.h: the input
	_ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, read)
}
