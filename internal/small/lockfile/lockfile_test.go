package lockfile

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	forever     = time.Hour
	shortMoment = 20 * time.Millisecond
)

// short makes Take give up soon.
func short(o Options) Options {
	o.moment = shortMoment
	return o
}

// child is the variable in the environment of this test when it is a process that holds a lock until it is killed.
const child = "WKWFS_TEST_LOCK"

func TestMain(m *testing.M) {
	if path := os.Getenv(child); path != "" {
		if _, err := Take(context.Background(), path, Options{}); err != nil {
			panic(err)
		}
		os.Stdout.WriteString("locked")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
		return
	}
	os.Exit(m.Run())
}

func take(t *testing.T, path string, o Options) *Lock {
	t.Helper()
	l, err := Take(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// noLocks is the kernel of a file system without locks.
func noLocks(*os.File, int) error { return syscall.ENOLCK }

// TestOneAtATime starts many goroutines at the same moment, again and again. One at a time holds the lock, and no file
// is left.
func TestOneAtATime(t *testing.T) {
	for name, kernel := range map[string]func(*os.File, int) error{"flock": nil, "no locks": noLocks} {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				path := filepath.Join(t.TempDir(), "lock")
				var start, group sync.WaitGroup
				start.Add(1)
				var held, all atomic.Int32
				for range 8 {
					group.Go(func() {
						start.Wait()
						l, err := Take(t.Context(), path, Options{Wait: forever, flock: kernel, moment: time.Minute})
						if err != nil {
							t.Error(err)
							return
						}
						if n := held.Add(1); n != 1 {
							t.Errorf("%d goroutines have the lock", n)
						}
						all.Add(1)
						held.Add(-1)
						l.Release()
					})
				}
				start.Done()
				group.Wait()
				if n := all.Load(); n != 8 {
					t.Errorf("%d of 8 have had the lock", n)
				}
				if _, err := os.Lstat(path); !os.IsNotExist(err) {
					t.Errorf("the file is left: %v", err)
				}
			}
		})
	}
}

// TestShared: shared locks exclude exclusive ones, and not each other. The last one removes the file.
func TestShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a, b := take(t, path, Options{Shared: true}), take(t, path, Options{Shared: true})
	if _, err := Take(t.Context(), path, short(Options{})); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want %v", err, ErrBusy)
	}
	a.Release()
	if _, err := Take(t.Context(), path, short(Options{})); !errors.Is(err, ErrBusy) {
		t.Errorf("one is left: got %v, want %v", err, ErrBusy)
	}
	b.Release()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the file is left: %v", err)
	}
	c := take(t, path, Options{})
	if _, err := Take(t.Context(), path, short(Options{Shared: true})); !errors.Is(err, ErrBusy) {
		t.Errorf("shared beside exclusive: got %v, want %v", err, ErrBusy)
	}
	if c.Orphaned() {
		t.Error("the lock was released")
	}
	c.Release()
}

// TestKilled: the lock of a process that was killed is free. The file says that it was.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), child+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	if _, err := Take(t.Context(), path, short(Options{})); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want %v", err, ErrBusy)
	}
	waited := make(chan struct{})
	got := make(chan *Lock)
	go func() {
		l, err := Take(t.Context(), path, Options{Wait: forever, moment: shortMoment, Waits: func() { close(waited) }})
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	<-waited
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	l := <-got
	if !l.Orphaned() {
		t.Error("nothing says that the process was killed")
	}
	l.Release()
	if l := take(t, path, Options{}); l.Orphaned() {
		t.Error("it is said again")
	}
}

// TestWithoutLocks: where the kernel has no locks, the file of an exclusive lock keeps all others away, also after a
// kill.
func TestWithoutLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a := take(t, path, Options{flock: noLocks})
	for _, o := range []Options{{}, {Shared: true}, {Wait: forever}} {
		o.flock, o.moment = noLocks, shortMoment
		if _, err := Take(t.Context(), path, o); !errors.Is(err, ErrBusy) || !errors.Is(err, errUnlockable) {
			t.Errorf("%v: got %v, want %v", o.Shared, err, errUnlockable)
		}
	}
	a.Release()
	b, c := take(t, path, Options{flock: noLocks, Shared: true}), take(t, path, Options{flock: noLocks, Shared: true})
	b.Release()
	c.Release()
	take(t, path, Options{flock: noLocks}).Release()
}

// TestPermissions: all who may write in the directory may lock, whatever the umask is.
func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o770); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "lock")
	l := take(t, path, Options{})
	defer l.Release()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
}

// TestCanceled: a wait ends with its context.
func TestCanceled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	defer take(t, path, Options{}).Release()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Take(ctx, path, Options{Wait: forever, moment: shortMoment, Waits: cancel})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
