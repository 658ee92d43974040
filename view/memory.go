package view

import "golang.org/x/sys/unix"

// newMemory returns memory for a slab, in huge pages where the kernel has them: its blocks are read a row here and a row
// there, and of all pages of the usual size together the processor does not know the places. Nothing
// depends on whether the kernel does so.
func newMemory(n int64) []byte {
	p := make([]byte, n)
	advise(p, unix.MADV_HUGEPAGE)
	return p
}

// giveUp leaves memory to the garbage collector. When some of it is given back to the kernel, it comes again in pages of the
// usual size: in larger ones it would be more than the collector knows of.
func giveUp(p []byte) { advise(p, unix.MADV_NOHUGEPAGE) }

// advise tells the kernel how memory is used. What is smaller than some huge pages has no advantage of them.
func advise(p []byte, advice int) {
	if len(p) >= 8<<20 {
		_ = unix.Madvise(p, advice)
	}
}
