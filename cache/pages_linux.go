package cache

import "golang.org/x/sys/unix"

// mapPages maps n bytes of new memory, in huge pages where the kernel has them. The kernel backs a page when it is
// first written.
func mapPages(n int) ([]byte, error) {
	p, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	_ = unix.Madvise(p, unix.MADV_HUGEPAGE) // the kernel may not support huge pages
	return p, nil
}

// populatePages lets the kernel back pages before they are written.
func populatePages(p []byte) {
	_ = unix.Madvise(p, unix.MADV_POPULATE_WRITE) // old kernels do not support it
}

// discardPages gives the memory of pages back to the kernel. Their content is undefined then.
func discardPages(p []byte) {
	_ = unix.Madvise(p, unix.MADV_DONTNEED) // it fails only for locked memory
}
