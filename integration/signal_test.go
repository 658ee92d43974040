package integration

import (
	"bytes"
	"os"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSignalsDoNotInterrupt reads while signals rain on the reading thread. Signals
// that have a handler make slow system calls return EINTR: those on files never do.
func TestSignalsDoNotInterrupt(t *testing.T) {
	name, want := mountBig(t, "--cache-size", "0")
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, done := unix.Gettid(), make(chan struct{})
	var rain sync.WaitGroup
	rain.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				// SIGURG has a handler in every Go program, and no meaning.
				if err := unix.Tgkill(os.Getpid(), thread, unix.SIGURG); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	p := make([]byte, 100_000)
	for off := 0; off+len(p) <= len(want); off += len(p) {
		n, err := unix.Pread(fd, p, int64(off))
		if err != nil || !bytes.Equal(p[:n], want[off:off+n]) {
			t.Errorf("at %d: %d bytes, error %v", off, n, err)
			break
		}
	}
	close(done)
	rain.Wait()
}
