//go:build !darwin

package store

import "golang.org/x/sys/unix"

// willNeed tells the kernel that bytes of a file will be read. Reads do not depend on it, so errors do not matter.
func willNeed(fd int, off, n int64) { _ = unix.Fadvise(fd, off, n, unix.FADV_WILLNEED) }
