package integration

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// serviceManager listens as systemd does.
type serviceManager struct{ *net.UnixConn }

func newServiceManager(t *testing.T) serviceManager {
	t.Helper()
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(tempDir(t), "notify")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	return serviceManager{socket}
}

// hear returns the next that is said within the time; "": nothing.
func (m serviceManager) hear(t *testing.T, within time.Duration) string {
	t.Helper()
	if err := m.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	message := make([]byte, 256)
	n, err := m.Read(message)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return string(message[:n])
}

// want waits until something else than WATCHDOG=1 is said.
func (m serviceManager) want(t *testing.T, state string) {
	t.Helper()
	for {
		switch said := m.hear(t, deadline); said {
		case state:
			return
		case "WATCHDOG=1":
		default:
			t.Fatalf("the service manager heard %q, want %q", said, state)
		}
	}
}

// TestServiceManager: it is told when the mount answers, that it lives, and that it
// ends; a server that is stopped gives no signs of life, and ends as ever afterwards.
func TestServiceManager(t *testing.T) {
	requireFUSE(t)
	manager, dir := newServiceManager(t), tempDir(t)
	cmd := exec.Command(program, "mount", "--foreground", dataset(t), dir)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+manager.LocalAddr().String(), "WATCHDOG_USEC=200000")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{dir: dir, pid: cmd.Process.Pid, ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	t.Cleanup(func() { s.stop(t) })

	if said := manager.hear(t, deadline); said != "READY=1" {
		t.Fatalf("first it says %q", said)
	}
	if names(t, dir) == "" {
		t.Error("it is ready, and the mount is empty")
	}
	for range 6 { // how often it does is held by TestWatch
		if said := manager.hear(t, deadline); said != "WATCHDOG=1" {
			t.Fatalf("it says %q", said)
		}
	}

	s.signal(t, unix.SIGSTOP)
	for manager.hear(t, 300*time.Millisecond) != "" { // what was said before
	}
	if said := manager.hear(t, 300*time.Millisecond); said != "" {
		t.Errorf("stopped, it says %q", said)
	}
	s.signal(t, unix.SIGCONT)
	s.signal(t, unix.SIGTERM)
	manager.want(t, "STOPPING=1")
	s.wantExit(t, 0)
	wantUnmounted(t, dir)
}
