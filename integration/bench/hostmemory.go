package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// warmMemory takes n bytes of memory, but at most a quarter of the machine's, and frees them. The kernel of a virtual machine
// tells its host which pages are free, some seconds after they were freed. The host takes them away, and needs up to 2.5 ms to
// give back 2 MiB. Without this, a turn measures mostly which pages its predecessors have left. A real machine has no host, and
// all of its memory is warm.
func warmMemory(n int) error {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return fmt.Errorf("size of the memory: %w", err)
	}
	n = min(n, int(info.Totalram*uint64(info.Unit)/4))
	p, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("warm the memory: %w", err)
	}
	_ = unix.Madvise(p, unix.MADV_HUGEPAGE) // the kernel may not support huge pages
	for i := 0; i < n; i += unix.Getpagesize() {
		p[i] = 1
	}
	return unix.Munmap(p)
}
