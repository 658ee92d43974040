package integration

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRestartAfterCrash runs a server as the systemd unit of the packages says. A crash is followed by a new server,
// which reads the same. A wrong command line is not.
func TestRestartAfterCrash(t *testing.T) {
	requireFUSE(t)
	unit := readUnit(t)
	source := t.TempDir()
	small.write(t, source, 0, 0, 0)
	dir := tempDir(t)
	// SIGQUIT ends a Go program as a panic does
	for _, end := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGKILL} {
		s := startService(t, source, dir)
		s.server.signal(t, end)
		state := s.wait(t)
		if !unit.restarts(state) {
			t.Errorf("after %v: %v: the unit does not start a new server", end, state)
		}
	}
	s := startService(t, source, dir)
	if got, err := os.ReadFile(filepath.Join(dir, "z0/y0/x0.raw")); err != nil || len(got) == 0 {
		t.Errorf("after four crashes: %d bytes, %v", len(got), err)
	}
	if state := s.stop(t); unit.restarts(state) {
		t.Errorf("after SIGTERM: %v: the unit starts a new server", state)
	}

	// the main process finds the one, the server the other
	for _, variable := range []string{"WKWFS_CACHE_SIZE=much", "WKWFS_DISK_CACHE_SIZE=1"} {
		wrong := unit.exec(t, "ExecStart", source, dir)
		wrong.Env = append(wrong.Env, "WKWFS_DISK_CACHE="+tempDir(t), variable)
		if err := wrong.Run(); err == nil || unit.restarts(wrong.ProcessState) {
			t.Errorf("after a wrong setting %s: %v: the unit starts a new server", variable, wrong.ProcessState)
		}
	}
}
