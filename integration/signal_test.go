package integration

import (
	"bytes"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSignalsDoNotInterrupt reads while the reading thread gets many signals. A signal with a handler makes
// slow system calls return EINTR, but never a read of a file.
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
	var sender sync.WaitGroup
	sender.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				// Every Go program handles SIGURG and ignores it.
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
			t.Errorf("read at offset %d: got %d bytes, error %v", off, n, err)
			break
		}
	}
	close(done)
	sender.Wait()
}

// TestSignals checks that a signal unmounts and that the server exits with 0.
func TestSignals(t *testing.T) {
	source := dataset(t)
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGINT} {
		t.Run("background/"+unix.SignalName(sig), func(t *testing.T) {
			s := mountServer(t, source)
			s.signal(t, unix.SIGHUP) // a server in the background ignores it
			names(t, s.dir)
			s.signal(t, sig)
			s.wantExit(t, 0)
			wantUnmounted(t, s.dir)
		})
	}
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP} {
		t.Run("foreground/"+unix.SignalName(sig), func(t *testing.T) {
			if signal.Ignored(sig) {
				t.Skip("the tests run with this signal ignored, as under nohup, and the server inherits that")
			}
			s := serve(t, source)
			names(t, s.dir)
			s.signal(t, sig)
			s.wantExit(t, 0)
			wantUnmounted(t, s.dir)
		})
	}
}

// TestSignalWhileBusy sends a signal while a file is open. The mount disappears at once, the open file reads
// on, and the server ends when the file is closed, or at a second signal.
func TestSignalWhileBusy(t *testing.T) {
	t.Run("closed", func(t *testing.T) {
		s, f := signalWhileBusy(t)
		if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
			t.Errorf("reading the open file: %v", err)
		}
		f.Close()
		s.wantExit(t, 0)
	})
	t.Run("second signal", func(t *testing.T) {
		s, _ := signalWhileBusy(t)
		s.signal(t, unix.SIGTERM)
		s.wantExit(t, 0)
	})
}

func signalWhileBusy(t *testing.T) (*server, *os.File) {
	t.Helper()
	s := mountServer(t, dataset(t))
	f := open(t, anyFile(t, s.dir))
	s.signal(t, unix.SIGTERM)
	eventually(t, "the mount disappears", func() bool { return !isMounted(s.dir) })
	return s, f
}
