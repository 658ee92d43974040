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

// crowd is readers that open, read and compare files past the page cache until they
// get an error.
type crowd struct {
	group   sync.WaitGroup
	reads   atomic.Int64
	threads chan int // of each reader, the thread
	enough  atomic.Bool

	mu   sync.Mutex
	ends []error // of the readers that had an error
}

// readers is how many a crowd is.
const readers = 8

// gather starts a crowd in front of a file.
func gather(name string, want []byte) *crowd {
	c := &crowd{threads: make(chan int, readers)}
	for i := range readers {
		c.group.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			c.threads <- unix.Gettid()
			r := rand.New(rand.NewPCG(5, uint64(i)))
			for !c.enough.Load() {
				if err := c.read(r, name, want); err != nil {
					c.mu.Lock()
					defer c.mu.Unlock()
					c.ends = append(c.ends, err)
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
			return fmt.Errorf("%d bytes at %d: not those of the model", len(p), off)
		}
		c.reads.Add(1)
	}
	return nil
}

// awaitReads waits until the crowd has read some more.
func (c *crowd) awaitReads(t *testing.T) {
	t.Helper()
	before := c.reads.Load()
	eventually(t, "the crowd reads", func() bool { return c.reads.Load() > before+50 })
}

// awaitStill waits until all readers wait for something, which is the server if that
// is stopped.
func (c *crowd) awaitStill(t *testing.T) {
	t.Helper()
	for range readers {
		thread := <-c.threads
		eventually(t, "all readers wait", func() bool {
			state := stateOf(t, fmt.Sprintf("/proc/self/task/%d/stat", thread))
			return state == "S" || state == "D"
		})
	}
}

// stateOf returns the letter for what a process or thread does.
func stateOf(t *testing.T, stat string) string {
	t.Helper()
	b, err := os.ReadFile(stat)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[:1]
}

// disperse waits until all readers are gone and returns the errors they had.
func (c *crowd) disperse(t *testing.T) []error {
	t.Helper()
	var gone atomic.Bool
	go func() { c.group.Wait(); gone.Store(true) }()
	eventually(t, "the crowd disperses", gone.Load)
	return c.ends
}

// halt stops a server as kill -STOP does, with a crowd waiting for it.
func (s *server) halt(t *testing.T, c *crowd) {
	t.Helper()
	c.awaitReads(t)
	s.signal(t, unix.SIGSTOP)
	eventually(t, "the server is stopped", func() bool { return stateOf(t, fmt.Sprintf("/proc/%d/stat", s.pid)) == "T" })
	c.awaitStill(t)
}

// mountForCrowd mounts the big cube, with hardly a cache.
func mountForCrowd(t *testing.T) (s *server, name string, want []byte) {
	t.Helper()
	source := tempDir(t)
	big.write(t, source, 0, 0, 0)
	s = mountServer(t, source, "--cache-size", "100KiB")
	return s, filepath.Join(s.dir, "z0/y0/x0.raw"), big.flat()
}

// TestStoppedUnderLoad: a server that is stopped makes its readers wait, and no more.
func TestStoppedUnderLoad(t *testing.T) {
	s, name, want := mountForCrowd(t)
	c := gather(name, want)
	s.halt(t, c)
	before := c.reads.Load()
	s.signal(t, unix.SIGCONT)
	eventually(t, "the crowd reads on", func() bool { return c.reads.Load() > before+50 })
	c.enough.Store(true)
	for _, err := range c.disperse(t) {
		t.Error(err)
	}
}

// TestKilledUnderLoad: the readers of a server that is killed get an error at once,
// those that wait, those that have a file open and those that open one; and a new mount
// at the same place serves the right bytes.
func TestKilledUnderLoad(t *testing.T) {
	s, name, want := mountForCrowd(t)
	held := openDirect(t, name)
	cached := open(t, name)
	if _, err := cached.ReadAt(make([]byte, 4096), 0); err != nil {
		t.Fatal(err)
	}
	c := gather(name, want)
	s.halt(t, c)
	s.kill(t)
	ends := c.disperse(t)
	for _, err := range ends {
		if !isLost(err) {
			t.Error(err)
		}
	}
	if len(ends) != readers {
		t.Errorf("%d readers of %d had an error", len(ends), readers)
	}
	check := func() {
		t.Helper()
		if _, err := held.ReadAt(make([]byte, 4096), 0); !errors.Is(err, unix.ENOTCONN) {
			t.Errorf("a file that is open: %v, want ENOTCONN", err)
		}
		if _, err := cached.ReadAt(make([]byte, 4096), int64(len(want)-4096)); !isLost(err) {
			t.Errorf("a page that is not cached: %v", err)
		}
	}
	check()
	if _, err := os.Open(name); !errors.Is(err, unix.ENOTCONN) {
		t.Errorf("open: %v, want ENOTCONN", err)
	}
	again := mountOn(t, mountsAt(s.dir)[0].Source, s.dir)
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("mounted again: %d bytes, %v", len(got), err)
	}
	check() // what was open does not come back to life
	mustRun(t, "umount", again.dir)
	again.wantExit(t, 0)
}

// TestUnmountUnderLoad takes a mount away from under its readers. They read the right
// bytes, or get an error; the server ends, and nothing is left.
func TestUnmountUnderLoad(t *testing.T) {
	for _, test := range []struct {
		name    string
		unmount func(t *testing.T, s *server)
		lost    bool // readers may lose the server
	}{
		{"lazily", func(t *testing.T, s *server) { mustRun(t, "umount", "--lazy", s.dir) }, false},
		{"signals", func(t *testing.T, s *server) {
			s.signal(t, unix.SIGTERM)
			eventually(t, "the mount disappears", func() bool { return !isMounted(s.dir) })
			s.signal(t, unix.SIGTERM)
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, name, want := mountForCrowd(t)
			c := gather(name, want)
			c.awaitReads(t)
			test.unmount(t, s)
			for _, err := range c.disperse(t) {
				if !errors.Is(err, fs.ErrNotExist) && !(test.lost && isLost(err)) {
					t.Error(err)
				}
			}
			s.wantExit(t, 0)
			wantUnmounted(t, s.dir)
		})
	}
}
