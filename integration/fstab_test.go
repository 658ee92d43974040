package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// helperPaths are the paths at which mount(8) finds the program for the types fuse.wkwfs and wkwfs.
var helperPaths = []string{"/sbin/mount.fuse.wkwfs", "/sbin/mount.wkwfs"}

// installHelpers installs the program as a helper of mount(8) until the end of the test. It changes the
// machine, so it runs only where requireVariable asks for all tests.
func installHelpers(t *testing.T) {
	t.Helper()
	requireFUSE(t)
	requireRoot(t)
	if os.Getenv(requireVariable) != "1" {
		t.Skipf("makes links in /sbin, only with %s=1", requireVariable)
	}
	for _, path := range helperPaths {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s exists already, or: %v", path, err)
		}
		if err := os.Symlink(program, path); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		})
	}
}

// serverAt returns the server of a mount that another program has started.
func serverAt(t *testing.T, dir string) *server {
	t.Helper()
	s := &server{dir: dir, pid: serverOf(t, dir), ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	t.Cleanup(func() { s.stop(t) })
	return s
}

// TestMountCommand checks that mount(8) mounts by the type and umount(8) unmounts.
func TestMountCommand(t *testing.T) {
	installHelpers(t)
	source := dataset(t)
	for _, c := range []struct{ kind, options string }{
		{"fuse.wkwfs", ""},
		{"wkwfs", ""},
		{"wkwfs", "rw"},
		{"fuse.wkwfs", "ro,nofail,_netdev,x-systemd.automount,allow_other,uid=5,gid=6,umask=027,cache_size=64MiB"},
		{"fuse.wkwfs", "defaults,noatime"},
	} {
		t.Run(c.kind+" "+c.options, func(t *testing.T) {
			dir := tempDir(t)
			args := []string{"-t", c.kind, source, dir}
			if c.options != "" {
				args = append(args, "-o", c.options)
			}
			if r := runCommand(t, exec.Command("mount", args...)); r.code != 0 || r.stderr != "" {
				t.Fatalf("mount: exit code %d, stderr %q", r.code, r.stderr)
			}
			s := serverAt(t, dir)
			if m := mountsAt(dir); len(m) != 1 || m[0].FSType != "fuse.wkwfs" || m[0].Source != source ||
				!strings.HasPrefix(m[0].Options, "ro,nosuid,nodev,noexec") {
				t.Errorf("mounted: %+v", m)
			}
			if _, err := os.ReadFile(anyFile(t, dir)); err != nil {
				t.Error(err)
			}
			if r := runCommand(t, exec.Command("umount", dir)); r.code != 0 || r.stderr != "" {
				t.Errorf("umount: exit code %d, stderr %q", r.code, r.stderr)
			}
			s.wantExit(t, 0)
		})
	}
}

// TestMountCommandErrors checks that mount(8) prints our errors and returns its own exit codes.
func TestMountCommandErrors(t *testing.T) {
	installHelpers(t)
	source, dir := dataset(t), tempDir(t)
	tests := []struct {
		source, options string
		code            int
		want            string
	}{
		{source, "alow_other", 1, "wkwfs: unknown option -o alow_other\nhint: did you mean allow_other?\n"},
		{source, "cache_size=much", 1,
			"wkwfs: -o cache_size: \"much\" is not a size\nhint: write it like 512MiB, 1GiB or 4GB\n"},
		{filepath.Join(source, "none"), "ro", 32, "wkwfs: source " + filepath.Join(source,
			"none") + ": no such file or directory\nhint: ls " + source + " shows what there is\n"},
		{dir, "ro", 32, "wkwfs: the mount on " + dir + " would hide the source " + dir +
			" from its own server\nhint: choose another mountpoint\n"},
	}
	for _, test := range tests {
		r := runCommand(t, exec.Command("mount", "-t", "fuse.wkwfs", test.source, dir, "-o", test.options))
		if r.code != test.code || r.stderr != test.want {
			t.Errorf("%s, %s: exit code %d, stderr %q; want %d, %q", test.source, test.options, r.code, r.stderr,
				test.code, test.want)
		}
		if isMounted(dir) {
			t.Fatal("something is mounted")
		}
	}
	if r := runCommand(t, exec.Command("mount", "-s", "-t", "fuse.wkwfs", source, dir, "-o",
		"alow_other")); r.code != 0 {
		t.Fatalf("with -s: exit code %d, stderr %q", r.code, r.stderr)
	}
	serverAt(t, dir)
}

// TestFstab mounts lines of an fstab file, one by its mountpoint and the others by mount -a. A line that cannot
// be mounted does not stop the others.
func TestFstab(t *testing.T) {
	installHelpers(t)
	source, one, two, none := dataset(t), tempDir(t), tempDir(t), tempDir(t)
	lines := fmt.Sprintf(
		"%s %s fuse.wkwfs nofail,_netdev,x-systemd.automount,allow_other,ro,uid=5,gid=6,umask=027,cache_size=64MiB 0 0\n", source, one) +
		fmt.Sprintf("%s %s wkwfs defaults 0 0\n", source, two) +
		fmt.Sprintf("%s/none %s fuse.wkwfs nofail,ro 0 0\n", source, none)
	fstab := writeFile(t, filepath.Join(tempDir(t), "fstab"), []byte(lines))

	if r := runCommand(t, exec.Command("mount", "-T", fstab, one)); r.code != 0 || r.stderr != "" {
		t.Fatalf("mount: exit code %d, stderr %q", r.code, r.stderr)
	}
	serverAt(t, one)
	info, err := os.Stat(one)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 5 || st.Gid != 6 || info.Mode().Perm() != 0o550 {
		t.Errorf("owner %d, group %d, mode %v", st.Uid, st.Gid, info.Mode())
	}
	const someSucceeded, allFailed = 64, 32
	for _, code := range []int{someSucceeded, allFailed} { // the second time, only the line that fails is left
		r := runCommand(t, exec.Command("mount", "-a", "-T", fstab))
		if want := "wkwfs: source " + source + "/none: no such file or directory\nhint: ls " + source +
			" shows what there is\n"; r.code != code || r.stderr != want {
			t.Errorf("mount -a: exit code %d, stderr %q; want %d, %q", r.code, r.stderr, code, want)
		}
	}
	serverAt(t, two)
	for _, dir := range []string{one, two} {
		if n := len(mountsAt(dir)); n != 1 {
			t.Errorf("%s: %d mounts", dir, n)
		}
	}
	if isMounted(none) {
		t.Error("a source that does not exist is mounted")
	}
}

// TestAutomount checks that the program can mount on an automount. Until the mount is complete, the kernel
// blocks all processes outside of the daemon's process group. The test does what systemd does for
// x-systemd.automount.
func TestAutomount(t *testing.T) {
	requireFUSE(t)
	requireRoot(t)
	source, dir := dataset(t), tempDir(t)
	awaitRequest := mountAutofs(t, dir)

	var list bytes.Buffer
	reader := exec.Command("ls", dir)
	reader.Stdout, reader.Stderr = &list, &list
	reader.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := reader.Start(); err != nil {
		t.Fatal(err)
	}
	answer := awaitRequest()
	r := runCommand(t, &exec.Cmd{Path: program, Args: []string{"mount.fuse.wkwfs", source, dir, "-o",
		"rw,x-systemd.automount"}})
	answer(r.code == 0)
	err := reader.Wait()
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("mount: exit code %d, stderr %q", r.code, r.stderr)
	}
	s := serverAt(t, dir)
	if err != nil || !strings.Contains(list.String(), "color") {
		t.Errorf("ls: %v, %q", err, list.String())
	}
	mustRun(t, "umount", dir)
	s.wantExit(t, 0)
}
