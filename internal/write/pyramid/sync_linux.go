package pyramid

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriting tells the kernel to write a range to disk, so that the sync at the end has little left to do. It does
// not wait.
func startWriting(f *os.File, offset, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), offset, n, unix.SYNC_FILE_RANGE_WRITE)
}
