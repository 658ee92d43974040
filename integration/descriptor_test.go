package integration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// mountByDescriptor mounts as root, and serves the mount by a program without privileges, which gets an open descriptor
// of /dev/fuse and nothing else.
func mountByDescriptor(t *testing.T, source string) *server {
	t.Helper()
	dir := tempDir(t)
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions", device.Fd())
	if err := unix.Mount("other", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, options); err != nil {
		t.Fatal(err)
	}
	s := &server{dir: dir, ended: make(chan *os.ProcessState, 1)}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	cmd := exec.Command(program, "mount", source, "/dev/fd/3")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	cmd.ExtraFiles = []*os.File{device}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.pid = cmd.Process.Pid
	go func() {
		_ = cmd.Wait() // the state has the exit code
		s.ended <- cmd.ProcessState
	}()
	return s
}

// TestDescriptor: a program without privileges serves a mount that another program has made. Nobody can write, also
// where the mount would allow it. The server ends with the mount, or at a signal.
func TestDescriptor(t *testing.T) {
	requireFUSE(t)
	requireRoot(t)
	source := tempDir(t)
	small.write(t, source, 0, 0, 0)
	want := small.flat()

	s := mountByDescriptor(t, source)
	name := filepath.Join(s.dir, "z0/y0/x0.raw")
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, %v; want the model's %d", len(got), err, len(want))
	}
	wantReadOnly(t, name)
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("afterwards: got %d bytes, %v", len(got), err)
	}
	if r := wkwfs(t, "status", s.dir); r.code != 0 || !strings.Contains(r.stdout, source) {
		t.Errorf("status: exit code %d, %q%q", r.code, r.stdout, r.stderr)
	}
	if err := unix.Unmount(s.dir, 0); err != nil {
		t.Error(err)
	}
	s.wantExit(t, 0)

	s = mountByDescriptor(t, source)
	name = filepath.Join(s.dir, "z0/y0/x0.raw")
	if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
	s.signal(t, unix.SIGTERM)
	s.wantExit(t, 0)
	if _, err := os.ReadFile(name); !errors.Is(err, unix.ENOTCONN) {
		t.Errorf("after the end of the server: %v, want ENOTCONN", err)
	}
	if err := unix.Unmount(s.dir, 0); err != nil {
		t.Error(err)
	}
}

// wantReadOnly tries to change a file and its directory in all ways that there are.
func wantReadOnly(t *testing.T, name string) {
	t.Helper()
	dir := filepath.Dir(name)
	other := filepath.Join(dir, "new")
	for way, change := range map[string]func() error{
		"write":         func() error { return openFor(name, unix.O_WRONLY) },
		"read or write": func() error { return openFor(name, unix.O_RDWR) },
		"truncate":      func() error { return openFor(name, unix.O_TRUNC) },
		"create":        func() error { return openFor(other, unix.O_WRONLY|unix.O_CREAT) },
		"O_TMPFILE":     func() error { return openFor(dir, unix.O_WRONLY|unix.O_TMPFILE) },
		"size":          func() error { return unix.Truncate(name, 0) },
		"chmod":         func() error { return unix.Chmod(name, 0o777) },
		"chown":         func() error { return unix.Chown(name, nobody, nobody) },
		"times":         func() error { return unix.Utimes(name, make([]unix.Timeval, 2)) },
		"mknod":         func() error { return unix.Mknod(other, unix.S_IFIFO|0o666, 0) },
		"mkdir":         func() error { return unix.Mkdir(other, 0o777) },
		"unlink":        func() error { return unix.Unlink(name) },
		"rmdir":         func() error { return unix.Rmdir(dir) },
		"rename":        func() error { return unix.Rename(name, other) },
		"link":          func() error { return unix.Link(name, other) },
		"symlink":       func() error { return unix.Symlink(name, other) },
		"setxattr":      func() error { return unix.Setxattr(name, "user.new", []byte("x"), 0) },
		"removexattr":   func() error { return unix.Removexattr(name, "user.wkw.shape") },
	} {
		if err := change(); err != unix.EROFS {
			t.Errorf("%s: got %v, want %v", way, err, unix.EROFS)
		}
	}
}

func openFor(name string, flags int) error {
	fd, err := unix.Open(name, flags|unix.O_CLOEXEC, 0o666)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// TestNoDescriptor: a descriptor that is not an open /dev/fuse is an error that says so.
func TestNoDescriptor(t *testing.T) {
	source := dataset(t)
	for mountpoint, want := range map[string]string{
		"/dev/fd/1":    "descriptor 1 is not /dev/fuse",
		"/dev/fd/1000": "descriptor 1000: bad file descriptor",
	} {
		if r := wkwfs(t, "mount", source, mountpoint); r.code != 1 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit code %d, %q; want %q", mountpoint, r.code, r.stderr, want)
		}
	}
}
