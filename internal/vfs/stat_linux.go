package vfs

import "syscall"

// StatTimes returns the times in st, whose names differ between systems: of the last access, of the last change of the
// content, and of the last change of the file or its attributes. The pointers lead into st.
func StatTimes(st *syscall.Stat_t) (access, modification, change *syscall.Timespec) {
	return &st.Atim, &st.Mtim, &st.Ctim
}
