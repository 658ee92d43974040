package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// crowd is a number of readers. They open, read and compare a file past the page cache until they are stopped
// or get an error.
type crowd struct {
	group   sync.WaitGroup
	reads   atomic.Int64
	threads chan int // the thread of each reader
	stop    atomic.Bool

	mu   sync.Mutex
	errs []error // of the readers that ended with one
}

// crowdSize is the number of readers of a crowd.
const crowdSize = 8

// startCrowd starts a crowd that reads the file.
func startCrowd(name string, want []byte) *crowd {
	c := &crowd{threads: make(chan int, crowdSize)}
	for i := range crowdSize {
		c.group.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			c.threads <- unix.Gettid()
			r := rand.New(rand.NewPCG(5, uint64(i)))
			for !c.stop.Load() {
				if err := c.read(r, name, want); err != nil {
					c.mu.Lock()
					defer c.mu.Unlock()
					c.errs = append(c.errs, err)
					return
				}
			}
		})
	}
	return c
}

// read opens the file and reads a few ranges of it.
func (c *crowd) read(r *rand.Rand, name string, want []byte) error {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	for range 4 {
		off := r.IntN(len(want))
		p := make([]byte, 1+r.IntN(min(len(want)-off, 100_000)))
		if _, err := f.ReadAt(p, int64(off)); err != nil {
			return err
		}
		if !bytes.Equal(p, want[off:off+len(p)]) {
			return fmt.Errorf("read %d bytes at offset %d: wrong bytes", len(p), off)
		}
		c.reads.Add(1)
	}
	return nil
}

// awaitReads waits until the crowd has read more than 50 further ranges.
func (c *crowd) awaitReads(t *testing.T) {
	t.Helper()
	before := c.reads.Load()
	eventually(t, "the crowd reads", func() bool { return c.reads.Load() > before+50 })
}

// awaitBlocked waits until all readers sleep. If the server is stopped, they wait for the server.
func (c *crowd) awaitBlocked(t *testing.T) {
	t.Helper()
	for range crowdSize {
		thread := <-c.threads
		eventually(t, "all readers sleep", func() bool {
			state := stateOf(t, fmt.Sprintf("/proc/self/task/%d/stat", thread))
			return state == "S" || state == "D"
		})
	}
}

// stateOf returns the state of a process or thread: the letter in its stat file.
func stateOf(t *testing.T, stat string) string {
	t.Helper()
	b, err := os.ReadFile(stat)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[:1]
}

// wait waits until all readers end. It returns the errors that they got.
func (c *crowd) wait(t *testing.T) []error {
	t.Helper()
	var ended atomic.Bool
	go func() { c.group.Wait(); ended.Store(true) }()
	eventually(t, "all readers end", ended.Load)
	return c.errs
}

// stopDuringReads stops the server by SIGSTOP while a crowd reads, and waits until all readers wait.
func (s *server) stopDuringReads(t *testing.T, c *crowd) {
	t.Helper()
	c.awaitReads(t)
	s.signal(t, unix.SIGSTOP)
	eventually(t, "the server is stopped",
		func() bool { return stateOf(t, fmt.Sprintf("/proc/%d/stat", s.pid)) == "T" })
	c.awaitBlocked(t)
}

// mountForCrowd mounts the big cube with a very small cache.
func mountForCrowd(t *testing.T) (s *server, name string, want []byte) {
	t.Helper()
	source := tempDir(t)
	big.write(t, source, 0, 0, 0)
	s = mountServer(t, source, "--cache-size", "100KiB")
	return s, filepath.Join(s.dir, "z0/y0/x0.raw"), big.flat()
}

// TestStoppedUnderLoad checks that the readers of a stopped server wait, and read on when it continues.
func TestStoppedUnderLoad(t *testing.T) {
	s, name, want := mountForCrowd(t)
	c := startCrowd(name, want)
	s.stopDuringReads(t, c)
	before := c.reads.Load()
	s.signal(t, unix.SIGCONT)
	eventually(t, "the crowd reads on", func() bool { return c.reads.Load() > before+50 })
	c.stop.Store(true)
	for _, err := range c.wait(t) {
		t.Error(err)
	}
}

// TestKilledUnderLoad kills a server. All readers get an error at once: those that wait, those with an open
// file and those that open one. A new mount at the same mountpoint serves the right bytes.
func TestKilledUnderLoad(t *testing.T) {
	s, name, want := mountForCrowd(t)
	held := openDirect(t, name)
	cached := open(t, name)
	if _, err := cached.ReadAt(make([]byte, 4096), 0); err != nil {
		t.Fatal(err)
	}
	c := startCrowd(name, want)
	s.stopDuringReads(t, c)
	s.kill(t)
	errs := c.wait(t)
	for _, err := range errs {
		if !isServerGone(err) {
			t.Error(err)
		}
	}
	if len(errs) != crowdSize {
		t.Errorf("%d of %d readers got an error, want all", len(errs), crowdSize)
	}
	wantLost := func() {
		t.Helper()
		if _, err := held.ReadAt(make([]byte, 4096), 0); !errors.Is(err, unix.ENOTCONN) {
			t.Errorf("reading an open file: %v, want ENOTCONN", err)
		}
		if _, err := cached.ReadAt(make([]byte, 4096), int64(len(want)-4096)); !isServerGone(err) {
			t.Errorf("reading a page that is not in the page cache: %v", err)
		}
	}
	wantLost()
	if _, err := os.Open(name); !errors.Is(err, unix.ENOTCONN) {
		t.Errorf("open: %v, want ENOTCONN", err)
	}
	again := mountOn(t, mountsAt(s.dir)[0].Source, s.dir)
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("after the new mount: %d bytes, %v", len(got), err)
	}
	wantLost() // the new mount does not revive open files
	mustRun(t, "umount", again.dir)
	again.wantExit(t, 0)
}

// TestUnmountUnderLoad unmounts while readers read. They get the right bytes or an error. The server ends, and
// nothing stays mounted.
func TestUnmountUnderLoad(t *testing.T) {
	for _, test := range []struct {
		name    string
		unmount func(t *testing.T, s *server)
		lost    bool // whether readers may get the errors of a lost server
	}{
		{"lazily", func(t *testing.T, s *server) { mustRun(t, "umount", "--lazy", s.dir) }, false},
		{"signals", func(t *testing.T, s *server) {
			s.signal(t, unix.SIGTERM)
			eventually(t, "the mount disappears", func() bool { return !isMounted(s.dir) })
			// the last reader may have ended
			if err := unix.Kill(s.pid, unix.SIGTERM); err != nil && !errors.Is(err, unix.ESRCH) {
				t.Error(err)
			}
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, name, want := mountForCrowd(t)
			c := startCrowd(name, want)
			c.awaitReads(t)
			test.unmount(t, s)
			for _, err := range c.wait(t) {
				if !errors.Is(err, fs.ErrNotExist) && !(test.lost && isServerGone(err)) {
					t.Error(err)
				}
			}
			s.wantExit(t, 0)
			wantUnmounted(t, s.dir)
		})
	}
}
