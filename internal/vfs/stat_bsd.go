//go:build darwin || freebsd

package vfs

import "syscall"

// StatTimes is as on Linux.
func StatTimes(st *syscall.Stat_t) (access, modification, change *syscall.Timespec) {
	return &st.Atimespec, &st.Mtimespec, &st.Ctimespec
}
