//go:build darwin || freebsd

// Package fsstat lists the file systems of macOS and FreeBSD.
package fsstat

import "golang.org/x/sys/unix"

// All describes all mounts, as far as the kernel knows them without asking a server. The oldest comes first.
func All() ([]unix.Statfs_t, error) {
	for n := 64; ; n *= 2 {
		mounts := make([]unix.Statfs_t, n)
		found, err := unix.Getfsstat(mounts, unix.MNT_NOWAIT)
		if err != nil {
			return nil, err
		}
		if found < n { // otherwise there may be more
			return mounts[:found], nil
		}
	}
}
