package integration

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// TestWriters starts processes of every kind that write the same dataset or directory at the same moment.
func TestWriters(t *testing.T) {
	parallelHeavy(t)
	for kind := range writerKinds {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			runWriters(t, writersCase{Kind: kind, Content: 1, Size: [3]int{40, 30, 35}, Cube: 16, Mags: 1,
				Kills: make([]int, 4), Rounds: amount(2, 40)})
		})
	}
}

// TestWritersKilled is TestWriters with processes that are killed, each at another moment in each round. The commands
// are given again.
func TestWritersKilled(t *testing.T) {
	parallelHeavy(t)
	for kind := range writerKinds {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			for round := range amount(3, 40) {
				at := 4000 + 9000*round%71_000
				runWriters(t, writersCase{
					Kind: kind, Content: 2, Size: [3]int{40, 30, 35}, Cube: 16, Mags: 2, Raw: round%2 == 0,
					Kills: []int{at, 0, at / 2, 0}, Rounds: 1,
				})
			}
		})
	}
}

// withoutLocks is a directory on a file system without locks, as a mount of Lustre without the option flock.
type withoutLocks struct{ *fusefs.LoopbackNode }

// WrapChild implements fusefs.NodeWrapChilder.
func (*withoutLocks) WrapChild(_ context.Context, node fusefs.InodeEmbedder) fusefs.InodeEmbedder {
	return &withoutLocks{node.(*fusefs.LoopbackNode)}
}

func (*withoutLocks) Setlk(context.Context, fusefs.FileHandle, uint64, *fuse.FileLock, uint32) syscall.Errno {
	return syscall.ENOSYS
}

func (*withoutLocks) Setlkw(context.Context, fusefs.FileHandle, uint64, *fuse.FileLock, uint32) syscall.Errno {
	return syscall.ENOSYS
}

// withoutLocksDir mounts a directory without locks.
func withoutLocksDir(t *testing.T) string {
	t.Helper()
	requireFUSE(t)
	dir, below := tempDir(t), tempDir(t)
	root, err := fusefs.NewLoopbackRoot(below)
	if err != nil {
		t.Fatal(err)
	}
	server, err := fusefs.Mount(dir, &withoutLocks{root.(*fusefs.LoopbackNode)},
		&fusefs.Options{MountOptions: fuse.MountOptions{EnableLocks: true, FsName: "withoutlocks"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			t.Error(err)
		}
	})
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != unix.ENOSYS {
		t.Fatalf("flock: got %v, want %v", err, unix.ENOSYS)
	}
	return dir
}

// TestWritersWithoutLocks is TestWriters on a file system without locks. If a process is killed, the next one names the
// file that is to be removed.
func TestWritersWithoutLocks(t *testing.T) {
	t.Setenv("TMPDIR", withoutLocksDir(t))
	for kind := range writerKinds {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			runWriters(t, writersCase{Kind: kind, Content: 3, Size: [3]int{40, 30, 35}, Cube: 16, Mags: 1,
				Kills: make([]int, 3), Rounds: amount(1, 20)})
		})
	}
	w := newWriters(t)
	mustRun(t, w.command(w.inputs[0], "l")...)
	lock := writeFile(t, filepath.Join(w.dataset, ".l.lock"), nil)
	if r := wkwfs(t, w.command(w.inputs[1], "l")...); r.code != 1 || !strings.Contains(r.stderr, lock) ||
		!strings.Contains(r.stderr, "remove the file") {
		t.Errorf("exit code %d, stderr %q", r.code, r.stderr)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	mustRun(t, w.command(w.inputs[1], "l", "--update")...)
	w.checkLeft()
}

// newWriters returns writers with a new directory and two inputs.
func newWriters(t *testing.T) *writers {
	t.Helper()
	w := &writers{TB: t, writersCase: writersCase{Content: 4, Size: [3]int{40, 30, 35}, Cube: 16}, dir: tempDir(t)}
	w.dataset = filepath.Join(w.dir, "dataset")
	for i := range 2 {
		w.voxels = append(w.voxels, w.random(i))
		w.inputs = append(w.inputs, w.save(i, [3]int{}, w.Size, w.voxels[i]))
	}
	return w
}

// TestLocksAreNotSeen: locks and temporary files of writers are not in a mount, in a copy or in a report, and readers
// do not wait for them.
func TestLocksAreNotSeen(t *testing.T) {
	requireFUSE(t)
	w := newWriters(t)
	mustRun(t, w.command(w.inputs[0], "l")...)
	look := func() (all []string) {
		dir := mount(t, w.dataset)
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			all = append(all, strings.TrimPrefix(path, dir))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "l/1/volume.raw")); err != nil || !bytes.Equal(got, w.voxels[0]) {
			t.Errorf("the voxels differ: %v", err)
		}
		all = append(all, mustRun(t, "info", w.dataset))
		mustRun(t, "check", w.dataset)
		to := tempDir(t)
		mustRun(t, "cp", "-q", "--all", w.dataset, ".", filepath.Join(to, "copy"))
		for name := range contents(t, to) {
			all = append(all, name)
		}
		slices.Sort(all)
		return all
	}
	want := look()
	for _, name := range []string{".l.lock", ".datasource-properties.json.lock"} {
		f, err := os.Create(filepath.Join(w.dataset, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(w.dataset, ".datasource-properties.json.ABC.tmp"), nil)
	if r := wkwfs(t, w.command(w.inputs[1], "l")...); r.code != 1 || !strings.Contains(r.stderr, reasonBusy) {
		t.Errorf("the layer is not locked: exit code %d, %s", r.code, r.stderr)
	}
	if got := look(); !slices.Equal(got, want) {
		t.Errorf("got %q,\nwant %q", got, want)
	}
}

// TestUpdateWaits: an update says that it waits, and can be interrupted.
func TestUpdateWaits(t *testing.T) {
	w := newWriters(t)
	mustRun(t, w.command(w.inputs[0], "l")...)
	f, err := os.Create(filepath.Join(w.dataset, ".l.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "import", w.inputs[1], w.dataset, "--layer", "l", "--update")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(deadline, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var output []byte
	for p := make([]byte, 1000); ; {
		n, err := stderr.Read(p)
		output = append(output, p[:n]...)
		if bytes.Contains(output, []byte("waiting: another process is writing the layer")) &&
			cmd.Process.Signal(os.Interrupt) == nil && err == nil {
			break
		}
		if err != nil {
			t.Fatalf("%v: %s", err, output)
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d: %s", code, output)
	}
}

// TestWritersOfOtherUsers: users of a group write a dataset together, also after a process of another user was killed.
func TestWritersOfOtherUsers(t *testing.T) {
	requireRoot(t)
	const group = 54321
	w := newWriters(t)
	if err := os.Mkdir(w.dataset, 0o775); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(w.dataset, 54322, group); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.dataset, 0o775|fs.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	as := func(user uint32, args ...string) {
		t.Helper()
		cmd := exec.Command("/bin/sh", append([]string{"-c", `umask 002; exec "$0" "$@"`, program}, args...)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: group}}
		if r := runCommand(t, cmd); r.code != 0 {
			t.Errorf("user %d: exit code %d: %s", user, r.code, r.stderr)
		}
	}
	as(54322, w.command(w.inputs[0], "l")...)
	for i, name := range []string{".l.lock", ".datasource-properties.json.lock"} {
		lock := writeFile(t, filepath.Join(w.dataset, name), nil)
		if err := os.Chown(lock, 54322, group); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(lock, []os.FileMode{0o664, 0o644}[i]); err != nil {
			t.Fatal(err)
		}
	}
	as(54323, w.command(w.inputs[1], "l", "--update")...)
	as(54323, w.command(w.inputs[1], "m")...)
	w.checkLayers("l", "m")
	w.checkLeft()
}
