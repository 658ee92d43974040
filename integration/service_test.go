package integration

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// unit is what the systemd unit of the packages says, by the names of systemd.service(5) and systemd.kill(5).
type unit map[string]string

// unitFile is the unit of the packages.
const unitFile = "../packaging/systemd/wkwfs@.service"

func readUnit(t *testing.T) unit {
	t.Helper()
	text, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	u := unit{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+)=(.*)$`).FindAllSubmatch(text, -1) {
		u[string(m[1])] = string(m[2])
	}
	return u
}

// restarts reports whether systemd starts a new process after one that ended with the state.
func (u unit) restarts(state *os.ProcessState) bool {
	if u["Restart"] != "on-failure" || state.Success() {
		return false
	}
	status := state.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled():
		clean := []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE}
		return !slices.Contains(clean, status.Signal())
	default:
		return !slices.Contains(strings.Fields(u["RestartPreventExitStatus"]), fmt.Sprint(status.ExitStatus()))
	}
}

// exec returns the command of a line of the unit.
func (u unit) exec(t *testing.T, line, source, dir string) *exec.Cmd {
	t.Helper()
	args := strings.Fields(strings.TrimPrefix(u[line], "-"))
	if len(args) == 0 {
		t.Fatalf("the unit has no %s", line)
	}
	for i, arg := range args {
		args[i] = strings.NewReplacer("${SOURCE}", source, "${MOUNTPOINT}", dir).Replace(arg)
	}
	cmd := exec.Command(args[0], args[1:]...)
	if args[0] == "wkwfs" {
		cmd.Path, cmd.Err = program, nil // it is not installed
	}
	cmd.Env = os.Environ()
	return cmd
}

// service is a server that runs as the unit says. The test does what systemd does.
type service struct {
	unit    unit
	source  string
	manager serviceManager
	main    *exec.Cmd
	ended   chan *os.ProcessState
	server  *server // a child of the main process
}

// startService starts a server and waits until it is ready. At the end of the test, it is stopped if it runs.
func startService(t *testing.T, source, dir string, env ...string) *service {
	t.Helper()
	requireFUSE(t)
	u := readUnit(t)
	if u["Type"] != "notify" || u["NotifyAccess"] != "all" {
		t.Fatalf("Type=%s, NotifyAccess=%s: the test knows notify and all", u["Type"], u["NotifyAccess"])
	}
	s := &service{unit: u, source: source, manager: newServiceManager(t), main: u.exec(t, "ExecStart", source, dir),
		ended: make(chan *os.ProcessState, 1)}
	s.main.Env = append(append(s.main.Env, "NOTIFY_SOCKET="+s.manager.LocalAddr().String()), env...)
	// not a pipe, which would be open as long as the server
	stderr, err := os.Create(filepath.Join(tempDir(t), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	s.main.Stderr = stderr
	if err := s.main.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.main.Wait() // the state has the exit code
		s.ended <- s.main.ProcessState
	}()
	t.Cleanup(func() {
		if s.ended != nil {
			s.stop(t)
		}
	})
	s.manager.want(t, "READY=1")
	s.server = &server{dir: dir, pid: childOf(t, s.main.Process.Pid), ended: make(chan *os.ProcessState, 1)}
	return s
}

// wait waits until the main process has ended. If the server still runs, it becomes a child of the test.
func (s *service) wait(t *testing.T) *os.ProcessState {
	t.Helper()
	timeout, err := strconv.Atoi(s.unit["TimeoutStopSec"])
	if err != nil {
		t.Fatal(err)
	}
	select {
	case state := <-s.ended:
		s.ended = nil
		if after := exec.Command("sh", "-c", "exec "+strings.Join(s.unit.exec(t, "ExecStopPost", s.source,
			s.server.dir).Args, " ")); after.Run() != nil && s.unit["ExecStopPost"][0] != '-' {
			t.Errorf("%v: %v", after.Args, after.ProcessState)
		}
		s.server.await(t)
		return state
	case <-time.After(time.Duration(timeout) * time.Second):
		t.Fatalf("the main process (%d) did not end within %d s: systemd kills it", s.main.Process.Pid, timeout)
	}
	return nil
}

// stop ends the service and returns how the main process has ended.
func (s *service) stop(t *testing.T) *os.ProcessState {
	t.Helper()
	signalled := []int{s.main.Process.Pid}
	if mode := cmp.Or(s.unit["KillMode"], "control-group"); mode != "process" {
		t.Logf("KillMode=%s: the server gets signals", mode)
		signalled = append(signalled, s.server.pid)
	}
	for _, pid := range signalled {
		if err := unix.Kill(pid, unix.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	state := s.wait(t)
	if len(signalled) > 1 {
		_ = unix.Kill(s.server.pid, unix.SIGKILL) // it may have ended
	}
	return state
}

// wantServerGone checks that no server is left after the main process has ended.
func (s *service) wantServerGone(t *testing.T) {
	t.Helper()
	if err := unix.Kill(s.server.pid, 0); err != unix.ESRCH {
		t.Errorf("the server (process %d) is there after the main process: %v", s.server.pid, err)
	}
}

// childOf returns the only child of a process.
func childOf(t *testing.T, parent int) int {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var children []int
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			t.Fatal(err)
		}
		const parentField = 4 - 2
		if statField(pid, parentField) == strconv.Itoa(parent) {
			children = append(children, pid)
		}
	}
	if len(children) != 1 {
		t.Fatalf("process %d has the children %v, want one", parent, children)
	}
	return children[0]
}
