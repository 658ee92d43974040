package integration

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moby/sys/mountinfo"
)

// deadline limits the time that a test waits for something that should happen soon. It is only reached if something
// hangs: a busy machine with the race detector may take a minute.
const deadline = 5 * time.Minute

// result is the exit code and output of a command.
type result struct {
	code           int
	stdout, stderr string
}

// wkwfs runs the program and returns its result.
func wkwfs(t testing.TB, args ...string) result {
	t.Helper()
	return runCommand(t, exec.Command(program, args...))
}

// runCommand runs a command and returns its result.
func runCommand(t testing.TB, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// mustRun runs the program and returns its output. The test fails unless it succeeds and prints nothing to
// stderr.
func mustRun(t testing.TB, args ...string) string {
	t.Helper()
	r := wkwfs(t, args...)
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("wkwfs %q: exit code %d, stderr %q", args, r.code, r.stderr)
	}
	return r.stdout
}

// server is a mount and the process that serves it.
type server struct {
	dir   string // the mountpoint
	pid   int
	ended chan *os.ProcessState // gets one state; nil if the state could not be read
}

// mount mounts the source on a new directory, in the background. At the end of the test it unmounts, and the
// server must exit with 0.
func mount(t testing.TB, source string, args ...string) (dir string) {
	t.Helper()
	return mountServer(t, source, args...).dir
}

// mountServer is mount for tests that need the process.
func mountServer(t testing.TB, source string, args ...string) *server {
	t.Helper()
	requireFUSE(t)
	return mountOn(t, source, tempDir(t), args...)
}

// mountOn is mountServer with a given mountpoint.
func mountOn(t testing.TB, source, dir string, args ...string) *server {
	t.Helper()
	r := wkwfs(t, slices.Concat([]string{"mount"}, args, []string{source, dir})...)
	for line := range strings.Lines(r.stderr) {
		if r.code != 0 || !strings.HasPrefix(line, "wkwfs: warning: ") { // of a source that is not sound
			t.Fatalf("mount %q of %s: exit code %d, stderr %q", args, source, r.code, r.stderr)
		}
	}
	if r.code != 0 {
		t.Fatalf("mount %q of %s: exit code %d", args, source, r.code)
	}
	s := &server{dir: dir, pid: serverOf(t, dir), ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	t.Cleanup(func() { s.stop(t) })
	return s
}

// await sends the final state of a background server to s.ended.
func (s *server) await(t testing.TB) {
	t.Helper()
	process, err := os.FindProcess(s.pid)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		state, _ := process.Wait() // wantExit reports a nil state
		s.ended <- state
	}()
}

// serve mounts the source in the foreground. It returns when the program notifies that the mount is ready.
func serve(t testing.TB, source string, args ...string) *server {
	t.Helper()
	requireFUSE(t)
	dir := tempDir(t)
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(tempDir(t), "notify")})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	cmd := exec.Command(program, slices.Concat([]string{"mount", "--foreground"}, args, []string{source, dir})...)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket.LocalAddr().String())
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{dir: dir, pid: cmd.Process.Pid, ended: make(chan *os.ProcessState, 1)}
	go func() {
		_ = cmd.Wait() // the state has the exit code
		s.ended <- cmd.ProcessState
	}()
	t.Cleanup(func() { s.stop(t) })
	if err := socket.SetReadDeadline(time.Now().Add(deadline)); err != nil {
		t.Fatal(err)
	}
	message := make([]byte, 64)
	n, err := socket.Read(message)
	if err != nil || string(message[:n]) != "READY=1" {
		t.Fatalf("wait for the mount: got the message %q, error %v", message[:n], err)
	}
	return s
}

// stop unmounts if necessary and waits until the server ends.
func (s *server) stop(t testing.TB) {
	t.Helper()
	if isMounted(s.dir) {
		r := wkwfs(t, "umount", s.dir)
		// On a busy machine, the kernel may close the files of processes that have ended later than umount waits.
		for end := time.Now().Add(time.Minute); strings.Contains(r.stderr, "in use") && time.Now().Before(end); {
			r = wkwfs(t, "umount", s.dir)
		}
		if r.code != 0 {
			t.Errorf("unmount after the test: %s", r.stderr)
			mustRun(t, "umount", "--lazy", s.dir)
		}
	}
	if s.ended != nil {
		s.wantExit(t, 0)
	}
}

// wantExit waits until the server ends and compares its exit code. −1 means that a signal ended it.
func (s *server) wantExit(t testing.TB, code int) {
	t.Helper()
	select {
	case state := <-s.ended:
		s.ended = nil
		if state == nil || state.ExitCode() != code {
			t.Errorf("the server ended with %v, want exit code %d", state, code)
		}
	case <-time.After(deadline):
		t.Fatalf("the server (process %d) did not end", s.pid)
	}
}

func (s *server) signal(t testing.TB, sig os.Signal) {
	t.Helper()
	process, err := os.FindProcess(s.pid)
	if err == nil {
		err = process.Signal(sig)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// serverOf returns the process that serves the mount: the last process of the program that has the mountpoint as an
// argument. Others may still serve what was open before.
func serverOf(t testing.TB, dir string) int {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	server, started := 0, -1
	for _, link := range links {
		if exe, err := os.Readlink(link); err != nil || exe != program {
			continue
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		if err != nil || !slices.Contains(strings.Split(string(line), "\x00"), dir) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if err != nil {
			t.Fatal(err)
		}
		const startTime = 22 - 2 // in proc(5): field 22, and the first two are left out
		if at, err := strconv.Atoi(statField(pid, startTime)); err == nil && at > started {
			server, started = pid, at
		}
	}
	if server == 0 {
		t.Fatalf("no process serves %s", dir)
	}
	return server
}

// statField returns a field of the stat file of a process, counted from 1 after the name of the program; "" if the
// process has ended.
func statField(pid, n int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	if fields := strings.Fields(rest); len(fields) >= n {
		return fields[n-1]
	}
	return ""
}

// mountTable returns the mounts of wkwfs.
func mountTable() []*mountinfo.Info {
	table, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("fuse.wkwfs"))
	if err != nil {
		panic(fmt.Sprint("read the table of mounts:  ", err))
	}
	return table
}

// mountsAt returns the mounts of wkwfs at the directory, the lowest first.
func mountsAt(dir string) []*mountinfo.Info {
	return slices.DeleteFunc(mountTable(), func(m *mountinfo.Info) bool { return m.Mountpoint != dir })
}

func isMounted(dir string) bool { return len(mountsAt(dir)) > 0 }

// eventually waits until the condition holds. It fails the test after the deadline.
func eventually(t testing.TB, description string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(deadline); !condition(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited %v without success until: %s", deadline, description)
		}
	}
}

// tempDir returns a new directory. Unlike t.TempDir, its path is short, as the paths of sockets have to be, and
// has no characters that need to be escaped.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir // testMain removes it
}

// dataset writes a small dataset: one layer of one cube.
func dataset(t testing.TB) string {
	t.Helper()
	dir := tempDir(t)
	m := model{blockLog: 3, cubeLog: 1, blockType: 2, voxelType: 1, channels: 1}
	m.write(t, filepath.Join(dir, "color", "1"), 0, 0, 0)
	return dir
}
