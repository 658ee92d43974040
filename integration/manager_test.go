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
	for _, mode := range []string{"--foreground", "--wait"} {
		t.Run(mode, func(t *testing.T) { testServiceManager(t, mode) })
	}
}

func testServiceManager(t *testing.T, mode string) {
	t.Parallel() // most of the time is waiting
	requireFUSE(t)
	manager, dir := newServiceManager(t), tempDir(t)
	cmd := exec.Command(program, "mount", mode, dataset(t), dir)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+manager.LocalAddr().String(), "WATCHDOG_USEC=200000")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{dir: dir, pid: cmd.Process.Pid, ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	t.Cleanup(func() { s.stop(t) })

	manager.want(t, "READY=1") // signs of life may come before
	if names(t, dir) == "" {
		t.Error("the mount is empty after READY=1")
	}
	for range 6 { // TestWatch checks the interval
		if message := manager.receive(t, deadline); message != "WATCHDOG=1" {
			t.Fatalf("the message is %q, want WATCHDOG=1", message)
		}
	}

	serving := s
	if mode == "--wait" {
		serving = &server{dir: dir, pid: childOf(t, s.pid)}
	}
	serving.signal(t, unix.SIGSTOP)
	manager.wantSilence(t)
	serving.signal(t, unix.SIGCONT)
	f := open(t, anyFile(t, dir))
	s.signal(t, unix.SIGTERM)
	manager.want(t, "STOPPING=1")
	if mode == "--wait" {
		s.wantExit(t, 0)
		serving.ended = make(chan *os.ProcessState, 1)
		serving.await(t)
	}
	eventually(t, "the mount disappears", func() bool { return !isMounted(dir) })
	manager.wantSilence(t) // of a server that only serves what is open
	f.Close()
	serving.wantExit(t, 0)
}

// wantSilence checks that there are no more messages than those that were sent before.
func (m serviceManager) wantSilence(t *testing.T) {
	t.Helper()
	for range 30 {
		switch m.receive(t, 300*time.Millisecond) {
		case "":
			return
		case "STOPPING=1":
			t.Error("the service manager got STOPPING=1 again, perhaps after it has started the next server")
		}
	}
	t.Error("the service manager still gets messages")
}

// TestWatchdog: the service manager sends SIGABRT to the main process if the server gives no sign of life. The server
// is ended, even if it is stopped, and a new one is started.
func TestWatchdog(t *testing.T) {
	s := startService(t, dataset(t), tempDir(t))
	s.server.signal(t, unix.SIGSTOP)
	if err := unix.Kill(s.main.Process.Pid, unix.SIGABRT); err != nil {
		t.Fatal(err)
	}
	if state := s.wait(t); !s.unit.restarts(state) {
		t.Errorf("%v: the unit does not start a new server", state)
	}
	s.wantServerGone(t)
	wantUnmounted(t, s.server.dir)
}

// TestWaitKillsServer: a server that does not unmount is killed in time.
func TestWaitKillsServer(t *testing.T) {
	t.Parallel() // most of the time is waiting
	s := startService(t, dataset(t), tempDir(t))
	s.server.signal(t, unix.SIGSTOP)
	if state := s.stop(t); state.ExitCode() != 1 {
		t.Errorf("the main process ended with %v, want exit code 1", state)
	}
	s.wantServerGone(t)
	wantUnmounted(t, s.server.dir)
}
