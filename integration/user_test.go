package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is the user and group of the ordinary user.
const nobody = 65534

// asUser runs the program as an ordinary user.
func asUser(t *testing.T, args ...string) result {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return runCommand(t, cmd)
}

// userDir returns a new directory that belongs to the ordinary user.
func userDir(t *testing.T) string {
	t.Helper()
	dir := tempDir(t)
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	return dir
}

// requireUserMounts skips a test where ordinary users cannot mount. With requireVariable it makes /dev/fuse
// accessible to all users instead, as distributions do.
func requireUserMounts(t *testing.T) {
	t.Helper()
	requireFUSE(t)
	requireRoot(t) // to change the user
	required := os.Getenv(requireVariable) == "1"
	if _, err := exec.LookPath("fusermount3"); err != nil {
		if required {
			t.Fatalf("%s=1, but ordinary users cannot mount: %v", requireVariable, err)
		}
		t.Skipf("ordinary users cannot mount: %v", err)
	}
	info, err := os.Stat("/dev/fuse")
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm()&0o006 == 0o006 {
		return
	}
	if !required {
		t.Skipf("ordinary users cannot mount: /dev/fuse is %v", info.Mode())
	}
	openDevice(t, info.Mode())
}

// openDevice makes /dev/fuse accessible to all users until the end of the test.
func openDevice(t *testing.T, before os.FileMode) {
	t.Helper()
	if err := os.Chmod("/dev/fuse", 0o666); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Chmod("/dev/fuse", before); err != nil {
			t.Error(err)
		}
	})
}

// TestOrdinaryUser checks that users other than root mount and unmount by fusermount3.
func TestOrdinaryUser(t *testing.T) {
	requireUserMounts(t)
	source, dir := dataset(t), userDir(t)
	mountAsUser := func() *server {
		if r := asUser(t, "mount", source, dir); r.code != 0 {
			t.Fatalf("exit code %d, stderr %q", r.code, r.stderr)
		}
		s := &server{dir: dir, pid: serverOf(t, dir), ended: make(chan *os.ProcessState, 1)}
		s.await(t)
		t.Cleanup(func() { s.stop(t) })
		return s
	}
	list := exec.Command("ls", dir)
	list.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}

	s := mountAsUser()
	if output, err := list.CombinedOutput(); err != nil || len(output) == 0 {
		t.Errorf("ls: %q, %v", output, err)
	}
	if r := asUser(t, "umount", dir); r.code != 0 {
		t.Errorf("umount: exit code %d, stderr %q", r.code, r.stderr)
	}
	wantUnmounted(t, dir)
	s.wantExit(t, 0)

	s = mountAsUser()
	s.signal(t, syscall.SIGTERM)
	s.wantExit(t, 0)
	wantUnmounted(t, dir)

	s = mountAsUser() // the next mount replaces a dead mount of the same user
	s.signal(t, syscall.SIGKILL)
	s.wantExit(t, -1)
	mountAsUser()
	if n := len(mountsAt(dir)); n != 1 {
		t.Errorf("%d mounts at the mountpoint, want 1", n)
	}
}

// TestOrdinaryUserErrors checks that the errors of an ordinary user have a hint.
func TestOrdinaryUserErrors(t *testing.T) {
	if _, err := exec.LookPath("fusermount3"); err != nil {
		requireRoot(t) // to change the user
		requireFUSE(t)
		r := asUser(t, "mount", dataset(t), userDir(t))
		want := "wkwfs: fusermount3 is not installed: it mounts for ordinary users\nhint: apt install fuse3 (or run as root)\n"
		if r.code != 1 || r.stderr != want {
			t.Errorf("exit code %d, stderr %q; want %q", r.code, r.stderr, want)
		}
		return
	}
	requireUserMounts(t)
	dir := tempDir(t)
	r := asUser(t, "mount", dataset(t), dir)
	if want := fmt.Sprintf("wkwfs: mountpoint %s: fusermount3 demands write access", dir); r.code != 1 ||
		!strings.HasPrefix(r.stderr, want) {
		t.Errorf("exit code %d, stderr %q; want %q", r.code, r.stderr, want)
	}
	config, err := os.ReadFile("/etc/fuse.conf")
	if err == nil && strings.Contains("\n"+string(config), "\nuser_allow_other") {
		return
	}
	r = asUser(t, "mount", "--allow-other", dataset(t), userDir(t))
	if r.code != 1 || !strings.Contains(r.stderr, "hint: as root: echo user_allow_other >> "+filepath.Join("/etc",
		"fuse.conf")) {
		t.Errorf("exit code %d, stderr %q", r.code, r.stderr)
	}
}

// TestUmountOfOtherUser checks that an ordinary user who unmounts a mount of root learns whose mount it is.
func TestUmountOfOtherUser(t *testing.T) {
	requireUserMounts(t)
	dir := mount(t, dataset(t))
	for _, args := range [][]string{{"umount", dir}, {"umount", "--lazy", dir}} {
		r := asUser(t, args...)
		want := fmt.Sprintf(
			"wkwfs: unmounting %s: mounted by another user: root\nhint: run it as that user, or as root\n", dir)
		if r.code != 1 || r.stderr != want || !isMounted(dir) {
			t.Errorf("%q: exit code %d, stderr %q; want %q", args, r.code, r.stderr, want)
		}
	}
}

// TestUmountInUseByUser checks that an ordinary user gets the same error as root for a mount in use.
func TestUmountInUseByUser(t *testing.T) {
	requireUserMounts(t)
	source, dir := dataset(t), userDir(t)
	if r := asUser(t, "mount", source, dir); r.code != 0 {
		t.Fatalf("exit code %d, stderr %q", r.code, r.stderr)
	}
	s := &server{dir: dir, pid: serverOf(t, dir), ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	t.Cleanup(func() { s.stop(t) })
	reader := exec.Command("sh", "-c", "echo ready; read line")
	reader.Dir = dir
	reader.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	end, err := reader.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	started, err := reader.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := started.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	r := asUser(t, "umount", dir)
	want := fmt.Sprintf("wkwfs: unmounting %s: in use by sh (%d)\nhint: wkwfs umount --lazy %s\n", dir,
		reader.Process.Pid, dir)
	if r.code != 1 || r.stderr != want {
		t.Errorf("exit code %d, stderr %q; want %q", r.code, r.stderr, want)
	}
	end.Close()
	_ = reader.Wait() // read has met the end
	if r := asUser(t, "umount", dir); r.code != 0 {
		t.Errorf("exit code %d, stderr %q", r.code, r.stderr)
	}
	s.wantExit(t, 0)
}
