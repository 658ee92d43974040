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

// serviceManager is the socket at which systemd gets the notifications of a service.
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

// receive returns the next message. If there is none within the timeout, it returns an empty string.
func (m serviceManager) receive(t *testing.T, timeout time.Duration) string {
	t.Helper()
	if err := m.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		t.Fatal(err)
	}
	message := make([]byte, 256)
	n, err := m.Read(message)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return string(message[:n])
}

// want checks that the next message other than WATCHDOG=1 is the given one.
func (m serviceManager) want(t *testing.T, state string) {
	t.Helper()
	for {
		switch message := m.receive(t, deadline); message {
		case state:
			return
		case "WATCHDOG=1":
		default:
			t.Fatalf("the service manager got %q, want %q", message, state)
		}
	}
}

// TestServiceManager checks that the service manager is notified when the mount answers, while the server lives
// and when it stops. A server that is stopped by SIGSTOP sends nothing. It ends normally after SIGCONT.
func TestServiceManager(t *testing.T) {
	t.Parallel() // most of the time is waiting
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

	if message := manager.receive(t, deadline); message != "READY=1" {
		t.Fatalf("the first message is %q, want READY=1", message)
	}
	if names(t, dir) == "" {
		t.Error("the mount is empty after READY=1")
	}
	for range 6 { // TestWatch checks the interval
		if message := manager.receive(t, deadline); message != "WATCHDOG=1" {
			t.Fatalf("the message is %q, want WATCHDOG=1", message)
		}
	}

	s.signal(t, unix.SIGSTOP)
	for manager.receive(t, 300*time.Millisecond) != "" { // messages from before the signal
	}
	if message := manager.receive(t, 300*time.Millisecond); message != "" {
		t.Errorf("the stopped server sent %q", message)
	}
	s.signal(t, unix.SIGCONT)
	s.signal(t, unix.SIGTERM)
	manager.want(t, "STOPPING=1")
	s.wantExit(t, 0)
	wantUnmounted(t, dir)
}
