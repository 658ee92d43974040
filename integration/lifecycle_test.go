package integration

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// names returns the names in a directory, separated by spaces.
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

// anyFile returns the path of a file of the mount that is not empty.
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
		t.Fatalf("find a file in %s: %q, %v", dir, found, err)
	}
	return found
}

// open opens a file until the end of the test.
func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestNameInTable: --fsname names the source in the table of mounts, and the mount is still known by its path.
func TestNameInTable(t *testing.T) {
	source, name := dataset(t), "cortex of mouse 3"
	dir := mount(t, source, "-o", "fsname="+name, "--quiet")
	if m := mountsAt(dir); len(m) != 1 || m[0].Source != name {
		t.Errorf("mounted: %v, want %s", m, name)
	}
	if got := statusOf(t, dir); got.Source != source {
		t.Errorf("the status has the source %s, want %s", got.Source, source)
	}
}

// TestBackground checks that the command returns when the mount answers, and that the server is independent of
// the session, directory and standard files of the command.
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
	for link, want := range map[string]string{"cwd": "/", "fd/0": "/dev/null", "fd/1": "/dev/null",
		"fd/2": "/dev/null"} {
		if got, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", s.pid, link)); err != nil || got != want {
			t.Errorf("%s of the server is %q, error %v; want %q", link, got, err, want)
		}
	}
	if session, err := unix.Getsid(s.pid); err != nil || session != s.pid {
		t.Errorf("the server is in session %d, %v; want one of its own", session, err)
	}
}

// TestFailingMount checks that a mount that fails prints one line and at most one hint, returns 1 and mounts
// nothing.
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
				if r.code != 1 || !strings.HasPrefix(lines[0], "wkwfs: ") || len(lines) > 1 && !hinted ||
					r.stdout != "" {
					t.Errorf("exit code %d, stdout %q, stderr %q; want 1 and one line", r.code, r.stdout, r.stderr)
				}
				if !strings.Contains(r.stderr, test.want) {
					t.Errorf("stderr %q does not contain %q", r.stderr, test.want)
				}
				if isMounted(dir) {
					t.Error("something is mounted")
				}
			})
		}
	}
}

func wantUnmounted(t *testing.T, dir string) {
	t.Helper()
	if m := mountsAt(dir); len(m) > 0 {
		t.Errorf("still mounted: %v", m[0])
	}
}

// TestUnmountedByOthers checks that the server exits with 0 when another program unmounts.
func TestUnmountedByOthers(t *testing.T) {
	requireRoot(t)
	s := mountServer(t, dataset(t))
	if err := unix.Unmount(s.dir, 0); err != nil {
		t.Fatal(err)
	}
	s.wantExit(t, 0)
}

// TestAlreadyMounted checks that a live mount is not mounted over, also while its server is stopped.
func TestAlreadyMounted(t *testing.T) {
	t.Parallel() // most of the time is waiting
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
		t.Errorf("while the server is stopped: exit code %d, stderr %q; want %q", r.code, r.stderr, want)
	}
	if names(t, s.dir) == "" {
		t.Error("the mount is gone")
	}
}

// TestMountpointInSource checks that mountpoints are refused at which the server would read its own mount.
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

// TestUmount checks that the command returns when the mount is gone. A mount in use stays, and the error names
// the processes that use it. With --lazy it is unmounted.
func TestUmount(t *testing.T) {
	s := mountServer(t, dataset(t))
	f := open(t, anyFile(t, s.dir))
	r := wkwfs(t, "umount", s.dir)
	self, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	holder := fmt.Sprintf("in use by %s (%d)", bytes.TrimSpace(self), os.Getpid())
	if want := "\nhint: wkwfs umount --lazy " + s.dir + "\n"; r.code != 1 ||
		!strings.HasSuffix(r.stderr, holder+want) || !isMounted(s.dir) {
		t.Errorf("while a file is open: exit code %d, stderr %q, want it to end with %q", r.code, r.stderr, holder+want)
	}
	mustRun(t, "umount", "--lazy", s.dir)
	wantUnmounted(t, s.dir)
	if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
		t.Errorf("reading the open file: %v", err)
	}
	f.Close()
	s.wantExit(t, 0)
	if r := wkwfs(t, "umount", s.dir); r.code != 1 || !strings.Contains(r.stderr, "is not a mount") {
		t.Errorf("the second time: exit code %d, stderr %q", r.code, r.stderr)
	}
}
