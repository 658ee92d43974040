//go:build linux

package mounts

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// TestWatchMount: a mount that is removed is gone, also if directories above it were renamed. Another mount at its
// place is left alone. The test runs again in a mount namespace of its own: elsewhere, other mounts would wake the one
// that waits.
func TestWatchMount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: it mounts")
	}
	const inNamespace = "WKWFS_TEST_IN_NAMESPACE"
	if os.Getenv(inNamespace) == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestWatchMount$", "-test.count=1")
		again.Env = append(os.Environ(), inNamespace+"=1")
		again.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
		if output, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, output)
		}
		return
	}
	for range 10 { // the signal of the kernel must come every time
		before, after := mkdir(t, tempDir(t)+"/a/m"), tempDir(t)+"/b"
		watch := mountAndWatch(t, before)
		inUse, err := os.Open(before) // as if it had a server
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-watch.Gone():
			t.Fatal("the mount is gone before it is removed")
		default:
		}
		if err := os.Rename(filepath.Dir(before), after); err != nil {
			t.Fatal(err)
		}
		if removed, err := watch.Remove(); err != nil || !removed {
			t.Fatal(removed, err)
		}
		select {
		case <-watch.Gone():
		case <-time.After(time.Minute):
			t.Fatal("the removal was not noticed")
		}
		successor := mountAndWatch(t, after+"/m")
		if removed, err := watch.Remove(); err != nil || removed {
			t.Errorf("removing again: %v, %v", removed, err)
		}
		if m, ok, err := At(after + "/m"); err != nil || !ok {
			t.Errorf("the next mount at the same place: %+v, %v, %v", m, ok, err)
		}
		if removed, err := successor.Remove(); err != nil || !removed {
			t.Fatal(removed, err)
		}
		<-successor.Gone()
		inUse.Close()
	}
	w, err := NewWatch(tempDir(t), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	<-w.Gone() // nothing is mounted there
}

// mountAndWatch mounts an empty file system.
func mountAndWatch(t *testing.T, dir string) *Watch {
	t.Helper()
	if err := unix.Mount("none", dir, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }) // usually it is gone
	w, err := NewWatch(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWatchPanics: after a panic, nobody learns that the mount is removed, and it can be removed all the same.
func TestWatchPanics(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: it mounts")
	}
	guard.LogTo(slog.New(slog.DiscardHandler))
	defer guard.LogTo(nil)
	passed := make(chan struct{})
	defer guard.Inject(func(place string) {
		if place == "mounts.watch" {
			close(passed)
			panic("injected")
		}
	})()
	before := guard.Count()
	watch := mountAndWatch(t, tempDir(t))
	<-passed
	if removed, err := watch.Remove(); err != nil || !removed {
		t.Errorf("removing: %v, %v", removed, err)
	}
	for start := time.Now(); guard.Count() == before; time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatal("the panic was not recovered")
		}
	}
	select {
	case <-watch.Gone():
		t.Error("the removal was noticed")
	default:
	}
}
