//go:build darwin || freebsd

package cache

import "golang.org/x/sys/unix"

// mapPages maps n bytes of new memory. The kernel backs a page when it is first written.
func mapPages(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// populatePages does nothing: these kernels cannot be asked to back pages before they are written.
func populatePages([]byte) {}

// discardPages lets the kernel take the memory of pages when it needs some. Their content is undefined then.
func discardPages(p []byte) {
	_ = unix.Madvise(p, unix.MADV_FREE) // it fails only for locked memory
}
