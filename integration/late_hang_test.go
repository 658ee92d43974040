package integration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/integration/latefs"
	"github.com/wkwfs/wkwfs/internal/status"
)

// soon is for how long one may wait who does not need the source.
const soon = 2 * time.Second

// wantSoon fails the test if something goes wrong or takes long. It does not wait for what never ends.
func wantSoon(t *testing.T, what string, do func() error) {
	t.Helper()
	begin, ended := time.Now(), make(chan error, 1)
	go func() { ended <- do() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if took := time.Since(begin); took > soon {
			t.Errorf("%s: it took %v, want at most %v", what, took, soon)
		}
	case <-time.After(5 * soon):
		t.Errorf("%s: no answer in %v", what, 5*soon)
	}
}

// runSoon runs the program, which has to succeed soon. It is killed if it does not.
func runSoon(t *testing.T, args ...string) {
	t.Helper()
	wantSoon(t, fmt.Sprintf("wkwfs %q", args), func() error {
		cmd := exec.Command(program, args...)
		kill := time.AfterFunc(2*soon, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		output, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, output)
		}
		return nil
	})
}

// releaseAtEnd lets a source answer again, at the end of the test at the latest: or nobody could unmount.
func releaseAtEnd(t *testing.T, late *latefs.Server) {
	t.Cleanup(func() { change(t, late, "-hang=") })
}

// waiters are processes that wait for a source.
type waiters struct {
	commands []*exec.Cmd
	ended    chan error // how each of them ended
}

// maxWaiters is how many there can be at most.
const maxWaiters = 1000

func newWaiters() *waiters { return &waiters{ended: make(chan error, maxWaiters)} }

// start starts a command, which can read from a file as its standard input.
func (w *waiters) start(t *testing.T, stdin *os.File, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.commands = append(w.commands, cmd)
	go func() { w.ended <- cmd.Wait() }()
}

// awaitStill waits until all of them wait.
func (w *waiters) awaitStill(t *testing.T) {
	t.Helper()
	for _, cmd := range w.commands {
		eventually(t, "all readers wait", func() bool {
			state := stateOf(t, fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
			return state == "S" || state == "D"
		})
	}
}

// kill kills all of them. They have to end, though who reads goes on for 5 seconds after a signal. If they do not, the
// source answers again.
func (w *waiters) kill(t *testing.T, late *latefs.Server, what string) {
	t.Helper()
	for _, cmd := range w.commands {
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
	}
	patience := time.After(20 * time.Second) // on a busy machine
	for i := range w.commands {
		select {
		case <-w.ended: // it was killed
		case <-patience:
			t.Errorf("%d of %d who wait for %s do not end when they are killed", len(w.commands)-i, len(w.commands), what)
			change(t, late, "-hang=") // nobody could unmount
			return
		}
	}
}

// TestLateSourceHangsReads: a source that answers no read any more holds up who reads what is not in memory, and nobody
// else, even if there are more of those than there may be reads in flight.
func TestLateSourceHangsReads(t *testing.T) {
	const readers = 70
	source := tempDir(t)
	big.write(t, source, 0, 0, 0)
	big.write(t, source, 1, 0, 0)
	late := serveLate(t, source, "-read", "1ms")
	s := mountServer(t, late.Dir)
	releaseAtEnd(t, late)
	name, other := filepath.Join(s.dir, "z0/y0/x0.raw"), filepath.Join(s.dir, "z0/y0/x1.raw")
	want := big.flat()
	const cached, paged = 5 * 4096, 900 * 4096 // offsets of what is in memory
	f, g, h := openDirect(t, name), openDirect(t, other), open(t, other)
	keep(t, late, f, cached)
	keep(t, late, g, cached)
	if _, err := h.ReadAt(make([]byte, 4096), paged); err != nil {
		t.Fatal(err)
	}
	var files []*os.File
	for i := range readers {
		files = append(files, openDirect(t, []string{name, other}[i/49]))
	}
	change(t, late, "-hang", "read")
	w := newWaiters()
	for i, f := range files {
		// Each waits for another row of blocks: there are 8 × 8 in a cube, and a plane has 8 pages.
		y, z := 1+i%7, 1+i/7%7
		w.start(t, f, "dd", "bs=4096", "count=1", "of=/dev/null", fmt.Sprintf("skip=%d", (16*z)*8+y))
		f.Close() // just the process has it open now
	}
	w.awaitStill(t)
	eventually(t, "reads hang", func() bool { return asked(t, late).Hanging[latefs.Read] > 0 })

	for _, c := range []struct {
		what string
		f    *os.File
		off  int64
	}{{"a block in memory", f, cached}, {"a block of another file", g, cached}, {"a page of another file", h, paged}} {
		wantSoon(t, c.what, func() error {
			p := make([]byte, 4096)
			_, err := c.f.ReadAt(p, c.off)
			if err == nil && !bytes.Equal(p, want[c.off:][:len(p)]) {
				err = errors.New("not the model's bytes")
			}
			return err
		})
	}
	wantStatus(t, s)
	wantSoon(t, "a listing", func() error { _, err := os.ReadDir(filepath.Dir(name)); return err })
	w.kill(t, late, "reads")
	for _, f := range []*os.File{f, g, h} {
		f.Close()
	}
	runSoon(t, "umount", s.dir)
	s.wantExit(t, 0)
}

// hanging returns how many requests hang.
func hanging(t *testing.T, late *latefs.Server) int {
	t.Helper()
	sum := 0
	for _, n := range asked(t, late).Hanging {
		sum += n
	}
	return sum
}

// keep reads a page until the source is not asked for it any more.
func keep(t *testing.T, late *latefs.Server, f *os.File, off int64) {
	t.Helper()
	eventually(t, "the block is in memory", func() bool {
		before := asked(t, late).Reads
		if _, err := f.ReadAt(make([]byte, 4096), off); err != nil {
			t.Fatal(err)
		}
		return asked(t, late).Reads == before
	})
}

// wantStatus: the server says soon what it does.
func wantStatus(t *testing.T, s *server) {
	t.Helper()
	wantSoon(t, status.StatusFile, func() error {
		_, err := os.ReadFile(filepath.Join(s.dir, status.StatusFile))
		return err
	})
	runSoon(t, "status", s.dir)
}

// TestLateSourceHangsLooks: while a source does not answer what it is asked when names are looked up and files opened,
// the server says what it does, who waits can be killed, and the mount can be taken away. The server ends.
func TestLateSourceHangsLooks(t *testing.T) {
	for _, kinds := range []string{"lookup", "getattr", "open", "readdir", "read", "lookup,getattr,open,readdir,readlink,getxattr,read"} {
		t.Run(kinds, func(t *testing.T) {
			t.Parallel() // they wait most of the time
			late := serveLate(t, sparse.write(t))
			s := mountServer(t, late.Dir)
			releaseAtEnd(t, late)
			change(t, late, "-hang", kinds)
			w := newWaiters()
			eventually(t, "a request hangs", func() bool {
				if len(w.commands) < maxWaiters-1 {
					w.start(t, nil, "stat", filepath.Join(s.dir, "color/1/z0/y0/x0.raw"))
					w.start(t, nil, "cat", filepath.Join(s.dir, "color/1/volume.raw"))
				}
				return hanging(t, late) > 0
			})
			// The kernel believes what it knows for a second. Afterwards it has to ask.
			for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end) && !t.Failed(); time.Sleep(300 * time.Millisecond) {
				wantStatus(t, s)
			}
			runSoon(t, "umount", "--lazy", s.dir)
			w.kill(t, late, kinds)
			s.wantExit(t, 0)
		})
	}
}
