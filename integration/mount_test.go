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

// deadline is when a test gives up on something that should happen at once.
const deadline = 30 * time.Second

// result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
}

// wkwfs runs the program to its end.
func wkwfs(t *testing.T, args ...string) result {
	t.Helper()
	return runCommand(t, exec.Command(program, args...))
}

func runCommand(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// mustRun runs the program, which has to succeed without a word on stderr.
func mustRun(t *testing.T, args ...string) string {
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
	ended chan *os.ProcessState // gets one state; nil where there was none to be had
}

// mount mounts the source in a new directory, in the background. At the end of the
// test it must be possible to unmount it, and the server must end with 0.
func mount(t *testing.T, source string, args ...string) (dir string) {
	t.Helper()
	return mountServer(t, source, args...).dir
}

// mountServer is mount for tests that care for the process too.
func mountServer(t *testing.T, source string, args ...string) *server {
	t.Helper()
	requireFUSE(t)
	return mountOn(t, source, tempDir(t), args...)
}

// mountOn is mountServer with a mountpoint that is there already.
func mountOn(t *testing.T, source, dir string, args ...string) *server {
	t.Helper()
	mustRun(t, slices.Concat([]string{"mount"}, args, []string{source, dir})...)
	s := &server{dir: dir, pid: serverOf(t, dir), ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	t.Cleanup(func() { s.stop(t) })
	return s
}

// await makes the end of a server in the background known.
func (s *server) await(t *testing.T) {
	t.Helper()
	process, err := os.FindProcess(s.pid)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		state, _ := process.Wait() // a state that is nil fails where it is looked at
		s.ended <- state
	}()
}

// serve mounts the source in the foreground and returns when the program says that
// the mount is ready, as systemd would be told.
func serve(t *testing.T, source string, args ...string) *server {
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
		_ = cmd.Wait() // the state says it
		s.ended <- cmd.ProcessState
	}()
	t.Cleanup(func() { s.stop(t) })
	if err := socket.SetReadDeadline(time.Now().Add(deadline)); err != nil {
		t.Fatal(err)
	}
	message := make([]byte, 64)
	n, err := socket.Read(message)
	if err != nil || string(message[:n]) != "READY=1" {
		t.Fatalf("waiting for the mount: %q, %v", message[:n], err)
	}
	return s
}

// stop unmounts what is still mounted and waits for the server.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if isMounted(s.dir) {
		if r := wkwfs(t, "umount", s.dir); r.code != 0 {
			t.Errorf("unmounting after the test: %s", r.stderr)
			mustRun(t, "umount", "--lazy", s.dir)
		}
	}
	if s.ended != nil {
		s.wantExit(t, 0)
	}
}

// wantExit waits until the server has ended and compares its exit code; −1: it was
// killed.
func (s *server) wantExit(t *testing.T, code int) {
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

func (s *server) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	process, err := os.FindProcess(s.pid)
	if err == nil {
		err = process.Signal(sig)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// serverOf returns the process that serves the mount: the one of our program that
// was started with the mountpoint.
func serverOf(t *testing.T, dir string) int {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
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
		return pid
	}
	t.Fatalf("no process serves %s", dir)
	return 0
}

// mountTable returns the mounts of wkwfs.
func mountTable() []*mountinfo.Info {
	table, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("fuse.wkwfs"))
	if err != nil {
		panic(fmt.Sprint("reading the table of mounts: ", err))
	}
	return table
}

// mountsAt returns the mounts of wkwfs at the directory, the lowest first.
func mountsAt(dir string) []*mountinfo.Info {
	return slices.DeleteFunc(mountTable(), func(m *mountinfo.Info) bool { return m.Mountpoint != dir })
}

func isMounted(dir string) bool { return len(mountsAt(dir)) > 0 }

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(deadline); !condition(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// tempDir is t.TempDir under a name without what would have to be escaped; the
// test's own name may be long, and a socket's path may not.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir // goes with the directory of the run
}

// dataset writes a small dataset: one layer of one cube.
func dataset(t *testing.T) string {
	t.Helper()
	dir := tempDir(t)
	m := model{blockLog: 3, cubeLog: 1, blockType: 2, voxelType: 1, channels: 1}
	m.write(t, filepath.Join(dir, "color", "1"), 0, 0, 0)
	return dir
}
