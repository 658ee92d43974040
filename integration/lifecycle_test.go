package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// names returns the names in a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// anyFile returns some file of the mount with bytes in it.
func anyFile(t *testing.T, dir string) string {
	t.Helper()
	found := ""
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Size() == 0 {
			return err
		}
		found = path
		return fs.SkipAll
	})
	if err != nil || found == "" {
		t.Fatalf("looking for a file in %s: %q, %v", dir, found, err)
	}
	return found
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestBackground: the command returns when the mount answers, and the server is
// tied to nothing of it.
func TestBackground(t *testing.T) {
	source := dataset(t)
	s := mountServer(t, source)
	if names(t, s.dir) == "" {
		t.Error("the mount is empty")
	}
	m := mountsAt(s.dir)
	if len(m) != 1 || m[0].Source != source {
		t.Fatalf("mounted: %v, want %s", m, source)
	}
	for _, option := range []string{"ro", "nosuid", "nodev", "noexec"} {
		if !strings.Contains(","+m[0].Options+",", ","+option+",") {
			t.Errorf("mounted with %s, without %s", m[0].Options, option)
		}
	}
	for link, want := range map[string]string{"cwd": "/", "fd/0": "/dev/null", "fd/1": "/dev/null", "fd/2": "/dev/null"} {
		if got, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", s.pid, link)); err != nil || got != want {
			t.Errorf("%s of the server is %q, %v; want %q", link, got, err, want)
		}
	}
	if session, err := unix.Getsid(s.pid); err != nil || session != s.pid {
		t.Errorf("the server is in session %d, %v; want one of its own", session, err)
	}
}

// TestFailingMount: one line, a hint at most, exit code 1 and nothing mounted, in
// the background and in the foreground.
func TestFailingMount(t *testing.T) {
	requireFUSE(t)
	source := dataset(t)
	text := writeFile(t, filepath.Join(tempDir(t), "text.wkw"), []byte("text"))
	tests := []struct {
		name, source string
		args         []string
		want         string
	}{
		{"not a dataset", tempDir(t), nil, ""},
		{"not a cube file", text, nil, "text.wkw"},
		{"refused by the kernel", source, []string{"-o", "context=no:such:label"}, "mounting on "},
	}
	for _, test := range tests {
		for _, mode := range []string{"--foreground=false", "--foreground"} {
			t.Run(test.name+mode, func(t *testing.T) {
				dir := tempDir(t)
				args := append([]string{"mount", mode}, test.args...)
				r := wkwfs(t, append(args, test.source, dir)...)
				lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
				hinted := len(lines) == 2 && strings.HasPrefix(lines[1], "hint: ")
				if r.code != 1 || !strings.HasPrefix(lines[0], "wkwfs: ") || len(lines) > 1 && !hinted || r.stdout != "" {
					t.Errorf("exit code %d, stdout %q, stderr %q; want 1 and one line", r.code, r.stdout, r.stderr)
				}
				if !strings.Contains(r.stderr, test.want) {
					t.Errorf("stderr %q does not say %q", r.stderr, test.want)
				}
				if isMounted(dir) {
					t.Error("something is mounted")
				}
			})
		}
	}
}

// TestSignals: a signal unmounts, and the server ends with 0.
func TestSignals(t *testing.T) {
	source := dataset(t)
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGINT} {
		t.Run("background/"+unix.SignalName(sig), func(t *testing.T) {
			s := mountServer(t, source)
			s.signal(t, unix.SIGHUP) // which the background ignores
			names(t, s.dir)
			s.signal(t, sig)
			s.wantExit(t, 0)
			wantUnmounted(t, s.dir)
		})
	}
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP} {
		t.Run("foreground/"+unix.SignalName(sig), func(t *testing.T) {
			if signal.Ignored(sig) {
				t.Skip("the tests were started with this signal ignored, as under nohup, and so is the server")
			}
			s := serve(t, source)
			names(t, s.dir)
			s.signal(t, sig)
			s.wantExit(t, 0)
			wantUnmounted(t, s.dir)
		})
	}
}

func wantUnmounted(t *testing.T, dir string) {
	t.Helper()
	if m := mountsAt(dir); len(m) > 0 {
		t.Errorf("still mounted: %v", m[0])
	}
}

// TestSignalWhileBusy: the mount disappears at once, open files can be read on,
// and the server ends when the last one is closed, or at a second signal.
func TestSignalWhileBusy(t *testing.T) {
	t.Run("closed", func(t *testing.T) {
		s, f := signalWhileBusy(t)
		if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
			t.Errorf("reading a file that is still open: %v", err)
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

// TestUnmountedByOthers: the server ends with 0 when somebody else unmounts.
func TestUnmountedByOthers(t *testing.T) {
	requireRoot(t)
	s := mountServer(t, dataset(t))
	if err := unix.Unmount(s.dir, 0); err != nil {
		t.Fatal(err)
	}
	s.wantExit(t, 0)
}

// kill ends the server the hard way, which leaves a dead mount.
func (s *server) kill(t *testing.T) {
	t.Helper()
	s.signal(t, unix.SIGKILL)
	s.wantExit(t, -1)
	var st unix.Statfs_t
	if err := unix.Statfs(s.dir, &st); !errors.Is(err, unix.ENOTCONN) {
		t.Fatalf("statfs of a mount without a server: %v", err)
	}
}

// TestDeadMount: what a killed server leaves behind is in nobody's way.
func TestDeadMount(t *testing.T) {
	source := dataset(t)
	t.Run("mounted again", func(t *testing.T) {
		old := mountServer(t, source)
		old.kill(t)
		log := filepath.Join(tempDir(t), "log")
		link := filepath.Join(tempDir(t), "link") // its end must not be looked at either
		if err := os.Symlink(old.dir, link); err != nil {
			t.Fatal(err)
		}
		s := mountOn(t, source, link, "--log-file", log)
		if names(t, old.dir) == "" || len(mountsAt(old.dir)) != 1 {
			t.Errorf("mounted at %s: %v", old.dir, mountsAt(old.dir))
		}
		text, err := os.ReadFile(log)
		if err != nil || !strings.Contains(string(text), "cleared a dead mount") {
			t.Errorf("the log says %q, %v", text, err)
		}
		mustRun(t, "umount", link)
		s.wantExit(t, 0)
	})
	t.Run("umount", func(t *testing.T) {
		s := mountServer(t, source)
		s.kill(t)
		mustRun(t, "umount", s.dir)
		wantUnmounted(t, s.dir)
	})
}

// TestDeadMountOfOthers: what others left behind is theirs to clear.
func TestDeadMountOfOthers(t *testing.T) {
	requireFUSE(t)
	requireRoot(t)
	dir := tempDir(t)
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", device.Fd())
	if err := unix.Mount("theirs", dir, "fuse.other", 0, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	device.Close() // and with it the server
	r := wkwfs(t, "mount", dataset(t), dir)
	if r.code != 1 || !strings.Contains(r.stderr, "is a dead mount of type fuse.other (theirs)") {
		t.Errorf("exit code %d, stderr %q", r.code, r.stderr)
	}
}

// TestAlreadyMounted: a live mount is not mounted over, also when its server is
// stopped and nobody answers.
func TestAlreadyMounted(t *testing.T) {
	source := dataset(t)
	s := mountServer(t, source)
	want := fmt.Sprintf("wkwfs: already mounted: %s on %s\nhint: wkwfs umount %s\n", source, s.dir, s.dir)
	if r := wkwfs(t, "mount", source, s.dir); r.code != 1 || r.stderr != want {
		t.Errorf("exit code %d, stderr %q; want %q", r.code, r.stderr, want)
	}
	s.signal(t, unix.SIGSTOP)
	r := wkwfs(t, "mount", source, s.dir)
	s.signal(t, unix.SIGCONT)
	if r.code != 1 || r.stderr != want {
		t.Errorf("stopped: exit code %d, stderr %q; want %q", r.code, r.stderr, want)
	}
	if names(t, s.dir) == "" {
		t.Error("the mount is gone")
	}
}

// TestMountpointInSource: the server would read its own mount.
func TestMountpointInSource(t *testing.T) {
	requireFUSE(t)
	source := tempDir(t)
	if err := os.CopyFS(source, os.DirFS(dataset(t))); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(source, "inside")
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{inside, source, filepath.Dir(source)} {
		if r := wkwfs(t, "mount", source, dir); r.code != 1 || !strings.Contains(r.stderr, "its own") {
			t.Errorf("on %s: exit code %d, stderr %q", dir, r.code, r.stderr)
		}
		wantUnmounted(t, dir)
	}
}

// TestUmount: the command returns when the mount is gone; one that is in use stays,
// unless asked to be lazy, and the error says by whom.
func TestUmount(t *testing.T) {
	s := mountServer(t, dataset(t))
	f := open(t, anyFile(t, s.dir))
	r := wkwfs(t, "umount", s.dir)
	self, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	holder := fmt.Sprintf("in use by %s (%d)", bytes.TrimSpace(self), os.Getpid())
	if want := "\nhint: wkwfs umount --lazy " + s.dir + "\n"; r.code != 1 || !strings.HasSuffix(r.stderr, holder+want) || !isMounted(s.dir) {
		t.Errorf("in use: exit code %d, stderr %q, want it to end with %q", r.code, r.stderr, holder+want)
	}
	mustRun(t, "umount", "--lazy", s.dir)
	wantUnmounted(t, s.dir)
	if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
		t.Errorf("reading a file that is still open: %v", err)
	}
	f.Close()
	s.wantExit(t, 0)
	if r := wkwfs(t, "umount", s.dir); r.code != 1 || !strings.Contains(r.stderr, "is not a mount") {
		t.Errorf("again: exit code %d, stderr %q", r.code, r.stderr)
	}
}
