package wkw

import (
	"os"

	"golang.org/x/sys/unix"
)

// newBlock returns memory for the n bytes of a block. Where it is new to the process, the kernel
// would hand it over page by page, with an exception for each, which takes a quarter of the time
// of decoding a block; all at once costs half of that. Nothing depends on whether it can.
func newBlock(n int) []byte {
	p := make([]byte, n)
	if n >= 4*os.Getpagesize() {
		_ = unix.Madvise(p, unix.MADV_POPULATE_WRITE)
	}
	return p
}
