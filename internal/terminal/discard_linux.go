package terminal

import "golang.org/x/sys/unix"

// discardInput discards what a terminal has sent and no program has read.
func discardInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
