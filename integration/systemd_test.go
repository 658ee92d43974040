package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// testSystem is a small system whose first process is systemd. It has the unit of the packages and nothing else.
type testSystem struct {
	pid    int    // of systemd
	cgroup string // the directory of its control group
}

const (
	systemdProgram = "/lib/systemd/systemd"
	testService    = "wkwfs@cortex.service"
)

// bootSystem starts a system in which the service shows the source. It ends with the test.
func bootSystem(t *testing.T, source string) *testSystem {
	t.Helper()
	requireFUSE(t)
	requireRoot(t)
	if _, err := os.Stat(systemdProgram); err != nil {
		t.Skipf("needs systemd (apt install systemd): %v", err)
	}
	s := &testSystem{cgroup: newCgroup(t)}
	group, err := os.Open(s.cgroup)
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	cmd := exec.Command("sh", "systemd/boot.sh", tempDir(t), program, source, testUnits(t))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET,
		UseCgroupFD: true, CgroupFD: int(group.Fd()),
		Pdeathsig: syscall.SIGKILL,
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.pid = cmd.Process.Pid
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // and with it all processes of the system
		<-ended
	})
	eventually(t, "systemd runs", func() bool {
		if len(ended) > 0 {
			t.Fatalf("the system did not start: %v", <-ended)
		}
		state, err := s.command("systemctl", "is-system-running").Output()
		return err == nil && string(state) == "running\n"
	})
	return s
}

// newCgroup makes a control group below that of this process. It is removed at the end of the test, when it is empty.
func newCgroup(t *testing.T) string {
	t.Helper()
	roots, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("cgroup2"))
	if err != nil || len(roots) == 0 {
		t.Skipf("needs a mount of cgroup2: %v", err)
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	var path string
	for line := range strings.Lines(string(own)) {
		if p, ok := strings.CutPrefix(line, "0::"); ok {
			path = strings.TrimSpace(p)
		}
	}
	dir, err := os.MkdirTemp(filepath.Join(roots[0].Mountpoint, path), "wkwfs-test-")
	if err != nil {
		t.Skipf("needs a cgroup2 that can be written: %v", err)
	}
	t.Cleanup(func() {
		eventually(t, "the control groups are empty", func() bool {
			// rmdir, deepest first, fails for the files of the control groups.
			_ = exec.Command("find", dir, "-depth", "-type", "d", "-exec", "rmdir", "{}", "+").Run()
			_, err := os.Stat(dir)
			return os.IsNotExist(err)
		})
	})
	return dir
}

// testUnits makes a directory with the unit of the packages, its settings, and the targets that units need. The
// watchdog is faster.
func testUnits(t *testing.T) string {
	t.Helper()
	dir := tempDir(t)
	unit, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "wkwfs@.service"), unit)
	if err := os.Mkdir(filepath.Join(dir, "wkwfs@.service.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "wkwfs@.service.d", "test.conf"),
		[]byte("[Unit]\nStartLimitBurst=100\n[Service]\nWatchdogSec=2\n"))
	writeFile(t, filepath.Join(dir, "cortex.env"),
		[]byte("SOURCE=/data\nMOUNTPOINT=/mnt/cortex\nWKWFS_CACHE_SIZE=1MiB\n"))
	for _, name := range []string{"test", "sysinit", "basic", "shutdown", "umount", "local-fs", "remote-fs",
		"multi-user", "rescue"} {
		writeFile(t, filepath.Join(dir, name+".target"), []byte("[Unit]\nDefaultDependencies=no\n"))
	}
	return dir
}

// command returns a command that runs in the system.
func (s *testSystem) command(args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--target", strconv.Itoa(s.pid), "--all", "--root", "--wd"},
		args...)...)
}

// systemctl runs systemctl with the service.
func (s *testSystem) systemctl(t *testing.T, verb string) {
	t.Helper()
	if r := runCommand(t, s.command("systemctl", verb, testService)); r.code != 0 {
		status := runCommand(t, s.command("systemctl", "status", "--no-pager", testService))
		t.Fatalf("systemctl %s: exit code %d: %s\n%s", verb, r.code, r.stderr, status.stdout)
	}
}

// wantProperties compares properties of the service: lines of NAME=VALUE.
func (s *testSystem) wantProperties(t *testing.T, want ...string) {
	t.Helper()
	if got := s.properties(t, want); got != strings.Join(want, "\n") {
		t.Errorf("the properties are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// awaitProperties waits until the service has these properties.
func (s *testSystem) awaitProperties(t *testing.T, want ...string) {
	t.Helper()
	eventually(t, strings.Join(want, ", "), func() bool { return s.properties(t, want) == strings.Join(want, "\n") })
}

// properties returns the present values of properties.
func (s *testSystem) properties(t *testing.T, lines []string) string {
	t.Helper()
	var got []string
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "=")
		r := runCommand(t, s.command("systemctl", "show", "--property="+name, testService))
		got = append(got, strings.TrimSpace(r.stdout))
	}
	return strings.Join(got, "\n")
}

// path returns the path of a file of the mount, as processes outside of the system see it.
func (s *testSystem) path(name string) string {
	return filepath.Join(fmt.Sprintf("/proc/%d/root/mnt/cortex", s.pid), name)
}

// serving returns the number that the server of the mount has in the system.
func (s *testSystem) serving(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile(s.path(".wkwfs/status.json"))
	if err != nil {
		t.Fatal(err)
	}
	var status struct{ PID int }
	if err := json.Unmarshal(b, &status); err != nil || status.PID == 0 {
		t.Fatalf("no process in the status: %v\n%s", err, b)
	}
	return status.PID
}

// signalServer sends a signal to the server of the mount.
func (s *testSystem) signalServer(t *testing.T, signal string) {
	t.Helper()
	if r := runCommand(t, s.command("kill", "-s", signal, strconv.Itoa(s.serving(t)))); r.code != 0 {
		t.Fatal(r.stderr)
	}
}

// awaitNoProcess waits until the service has no process.
func (s *testSystem) awaitNoProcess(t *testing.T) {
	t.Helper()
	procs := filepath.Join(s.cgroup, "system.slice/system-wkwfs.slice", testService, "cgroup.procs")
	eventually(t, "no process of the service is left", func() bool {
		b, err := os.ReadFile(procs)
		return os.IsNotExist(err) || err == nil && len(b) == 0
	})
}

// TestSystemd runs the unit of the packages in systemd. A restart does not wait for a reader, which reads on, and so
// does a stop. Systemd starts a new server after one that was killed, and after one that hangs. A signal ends a server
// that only serves what is open.
func TestSystemd(t *testing.T) {
	source := tempDir(t)
	big.write(t, source, 0, 0, 0)
	s := bootSystem(t, source)
	s.systemctl(t, "start")
	first := s.serving(t)
	reader := startSurvivor(t, s.path("z0/y0/x0.raw"))

	start := time.Now()
	s.systemctl(t, "restart")
	t.Logf("restarted in %v", time.Since(start))
	s.wantProperties(t, "ActiveState=active", "Result=success", "NRestarts=0")
	if next := s.serving(t); next == first {
		t.Errorf("the old server (process %d) serves the mount", next)
	}
	reader.check(t)
	s.systemctl(t, "stop")
	s.wantProperties(t, "ActiveState=inactive", "Result=success", "ExecMainStatus=0")
	reader.check(t)
	s.systemctl(t, "start")
	reader.check(t)
	s.systemctl(t, "stop")
	reader.close(t)
	s.awaitNoProcess(t)

	s.systemctl(t, "start")
	s.signalServer(t, "KILL")
	s.awaitProperties(t, "NRestarts=1", "ActiveState=active")
	s.signalServer(t, "STOP")
	s.awaitProperties(t, "NRestarts=2", "ActiveState=active")

	f := open(t, s.path("z0/y0/x0.raw"))
	s.systemctl(t, "stop")
	if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
		t.Errorf("reading the open file: %v", err)
	}
	s.systemctl(t, "kill")
	s.awaitNoProcess(t)
}
