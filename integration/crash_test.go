package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestRestartAfterCrash runs a server as the systemd unit of the packages says. A crash is followed by a new server, which reads
// the same. A wrong command line is not.
func TestRestartAfterCrash(t *testing.T) {
	requireFUSE(t)
	unit := readUnit(t)
	source := t.TempDir()
	small.write(t, source, 0, 0, 0)
	dir := tempDir(t)
	for _, end := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGKILL} { // SIGQUIT ends a Go program as a panic does
		s := mountOn(t, source, dir)
		s.signal(t, end)
		state := <-s.ended
		s.ended = nil
		if !unit.restarts(state) {
			t.Errorf("after %v: %v: the unit does not start a new server", end, state)
		}
		if state.ExitCode() == 2 {
			t.Errorf("after %v: the exit code is that of a wrong command line", end)
		}
	}
	s := mountOn(t, source, dir)
	if got, err := os.ReadFile(filepath.Join(s.dir, "z0/y0/x0.raw")); err != nil || len(got) == 0 {
		t.Errorf("after four crashes: %d bytes, %v", len(got), err)
	}
	s.signal(t, syscall.SIGTERM)
	state := <-s.ended
	s.ended = nil
	if unit.restarts(state) {
		t.Errorf("after SIGTERM: %v: the unit starts a new server", state)
	}

	wrong := exec.Command(program, "mount", "--no-such-flag", source, dir)
	if err := wrong.Run(); err == nil || unit.restarts(wrong.ProcessState) {
		t.Errorf("after a wrong command line: %v: the unit starts a new server", wrong.ProcessState)
	}
}

// unit is what a systemd unit says about restarts (systemd.service(5)).
type unit struct {
	restart   string
	prevented []string // exit codes
}

func readUnit(t *testing.T) unit {
	t.Helper()
	text, err := os.ReadFile("../packaging/systemd/wkwfs@.service")
	if err != nil {
		t.Fatal(err)
	}
	value := func(name string) string {
		if m := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindSubmatch(text); m != nil {
			return string(m[1])
		}
		return ""
	}
	return unit{value("Restart"), strings.Fields(value("RestartPreventExitStatus"))}
}

// restarts reports whether systemd starts a new process after one that ended with the state.
func (u unit) restarts(state *os.ProcessState) bool {
	if u.restart != "on-failure" || state.Success() {
		return false
	}
	status := state.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled():
		clean := []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE}
		return !slices.Contains(clean, status.Signal())
	default:
		return !slices.Contains(u.prevented, fmt.Sprint(status.ExitStatus()))
	}
}
