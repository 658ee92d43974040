package wkw

import (
	"os"

	"golang.org/x/sys/unix"
)

// newBlock returns memory for the n bytes of a block. Where it is new to the process, the kernel
// would hand it over page by page, with an exception for each: a quarter of the work of reading what
// was never read before. All at once spares a third of that. Nothing depends on whether it can.
func newBlock(n int) []byte {
	p := make([]byte, n)
	if n >= 4*os.Getpagesize() {
		_ = unix.Madvise(p, unix.MADV_POPULATE_WRITE)
	}
	return p
}
