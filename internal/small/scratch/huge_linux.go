package scratch

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages: the kernel backs memory faster with them.
func adviseHuge(b []byte) {
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // the kernel may not support them
}
