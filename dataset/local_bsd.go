//go:build darwin || freebsd

package dataset

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// isLocal reports whether a directory is on a file system of this machine. File systems say so themselves.
func isLocal(dir string) bool {
	var st unix.Statfs_t
	for {
		if err := unix.Statfs(dir, &st); err != unix.EINTR {
			return err == nil && st.Flags&unix.MNT_LOCAL != 0
		}
	}
}

// mayHang reports whether files in a directory may be on another machine, which may stop to answer. Even if the
// directory is local, it may have file servers mounted below it.
func mayHang(dir string) bool {
	if !isLocal(dir) {
		return true
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return true
	}
	mounts, err := allMounts()
	return err != nil || slices.ContainsFunc(mounts, func(m unix.Statfs_t) bool {
		point := unix.ByteSliceToString(m.Mntonname[:])
		return m.Flags&unix.MNT_LOCAL == 0 && strings.HasPrefix(point, strings.TrimSuffix(dir, "/")+"/")
	})
}

// allMounts describes all mounts, as far as the kernel knows them without asking a server. The oldest comes first.
func allMounts() ([]unix.Statfs_t, error) {
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
