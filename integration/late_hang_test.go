package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/integration/latefs"
	"github.com/wkwfs/wkwfs/internal/serve/status"
)

// soon limits the time of an operation that does not need the source. An operation that needs it never ends, because
// the source hangs. So the limit is so long that a busy machine keeps it.
const soon = deadline

// wantSoon fails the test if the operation fails or does not end soon.
func wantSoon(t *testing.T, operation string, run func() error) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("%s: %v", operation, err)
		}
	case <-time.After(soon):
		t.Errorf("%s did not end in %v", operation, soon)
	}
}

// runSoon runs the program. It fails the test if the program fails or takes longer than soon.
func runSoon(t *testing.T, args ...string) {
	t.Helper()
	wantSoon(t, fmt.Sprintf("wkwfs %q", args), func() error { return runUntilSoon(args...) })
}

// runUntilSoon runs the program. It kills a program that takes longer than soon.
func runUntilSoon(args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	output, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	return nil
}

// releaseAtEnd makes the source answer again at the end of the test. Otherwise unmounting it would hang.
func releaseAtEnd(t *testing.T, late *latefs.Server) {
	t.Cleanup(func() { setMode(t, late, "-hang=") })
}

// waiters are processes that wait for a source.
type waiters struct {
	commands []*exec.Cmd
	ended    chan error // the result of each process
}

// maxWaiters limits the number of processes.
const maxWaiters = 1000

func newWaiters() *waiters { return &waiters{ended: make(chan error, maxWaiters)} }

// start starts a command. Its standard input is stdin, unless that is nil.
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

// awaitBlocked waits until all processes sleep.
func (w *waiters) awaitBlocked(t *testing.T) {
	t.Helper()
	for _, cmd := range w.commands {
		eventually(t, "all processes sleep", func() bool {
			state := stateOf(t, fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
			return state == "S" || state == "D"
		})
	}
}

// kill kills all processes and waits for their end. They may take long, because a read goes on for 5 seconds
// after a signal. If one does not end, the test fails and the source answers again.
func (w *waiters) kill(t *testing.T, late *latefs.Server, requests string) {
	t.Helper()
	for _, cmd := range w.commands {
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
	}
	timeout := time.After(deadline)
	for i := range w.commands {
		select {
		case <-w.ended:
		case <-timeout:
			t.Errorf("%d of %d processes that wait for %s do not end after SIGKILL", len(w.commands)-i, len(w.commands),
				requests)
			setMode(t, late, "-hang=") // so that the source can be unmounted
			return
		}
	}
}

// TestHangingReadsBlockNoOtherReads checks that cached blocks and pages, status and listings answer at once
// while the source answers no read. The readers that wait are more than the reads that may be in flight.
func TestHangingReadsBlockNoOtherReads(t *testing.T) {
	t.Parallel() // most of the time is waiting
	const readers = 70
	source := tempDir(t)
	big.write(t, source, 0, 0, 0)
	big.write(t, source, 1, 0, 0)
	late := serveLate(t, source, "-read", "1ms")
	s := mountServer(t, late.Dir)
	releaseAtEnd(t, late)
	name, other := filepath.Join(s.dir, "z0/y0/x0.raw"), filepath.Join(s.dir, "z0/y0/x1.raw")
	want := big.flat()
	const cachedOffset, pageOffset = 5 * 4096, 900 * 4096 // in the cache of blocks, in the page cache
	f, g, h := openDirect(t, name), openDirect(t, other), open(t, other)
	readUntilCached(t, late, f, cachedOffset)
	readUntilCached(t, late, g, cachedOffset)
	if _, err := h.ReadAt(make([]byte, 4096), pageOffset); err != nil {
		t.Fatal(err)
	}
	var files []*os.File
	for i := range readers {
		files = append(files, openDirect(t, []string{name, other}[i/49]))
	}
	setMode(t, late, "-hang", "read")
	w := newWaiters()
	for i, f := range files {
		// Each process waits for a row of blocks of its own. A cube has 8 × 8 rows of blocks, a plane has 8 pages.
		y, z := 1+i%7, 1+i/7%7
		w.start(t, f, "dd", "bs=4096", "count=1", "of=/dev/null", fmt.Sprintf("skip=%d", (16*z)*8+y))
		f.Close() // only the process has it open now
	}
	w.awaitBlocked(t)
	eventually(t, "reads hang", func() bool { return countsOf(t, late).Hanging[latefs.Read] > 0 })

	wantPageSoon(t, "a cached block", f, cachedOffset, want)
	wantPageSoon(t, "a cached block of another file", g, cachedOffset, want)
	wantPageSoon(t, "a page of another file in the page cache", h, pageOffset, want)
	wantStatusSoon(t, s)
	wantSoon(t, "a listing", func() error { _, err := os.ReadDir(filepath.Dir(name)); return err })
	w.kill(t, late, "reads")
	for _, f := range []*os.File{f, g, h} {
		f.Close()
	}
	runSoon(t, "umount", s.dir)
	s.wantExit(t, 0)
}

// wantPageSoon reads a page at an offset of a file with the given content.
func wantPageSoon(t *testing.T, description string, f *os.File, off int64, content []byte) {
	t.Helper()
	wantSoon(t, "reading "+description, func() error {
		p := make([]byte, 4096)
		_, err := f.ReadAt(p, off)
		if err == nil && !bytes.Equal(p, content[off:][:len(p)]) {
			err = errors.New("wrong bytes")
		}
		return err
	})
}

// hangingRequests returns the number of requests that hang now.
func hangingRequests(t *testing.T, late *latefs.Server) int {
	t.Helper()
	sum := 0
	for _, n := range countsOf(t, late).Hanging {
		sum += n
	}
	return sum
}

// readUntilCached reads a page until the server does not need the source for it any more.
func readUntilCached(t *testing.T, late *latefs.Server, f *os.File, off int64) {
	t.Helper()
	eventually(t, "the block is cached", func() bool {
		before := countsOf(t, late).Reads
		if _, err := f.ReadAt(make([]byte, 4096), off); err != nil {
			t.Fatal(err)
		}
		return countsOf(t, late).Reads == before
	})
}

// wantStatusSoon checks that the status file and wkwfs status answer soon.
func wantStatusSoon(t *testing.T, s *server) {
	t.Helper()
	wantSoon(t, "reading "+status.StatusFile, func() error {
		_, err := os.ReadFile(filepath.Join(s.dir, status.StatusFile))
		return err
	})
	wantSoon(t, "wkwfs status", func() error {
		var err error
		for end := time.Now().Add(soon / 2); time.Now().Before(end); {
			err = runUntilSoon("status", s.dir)
			// it waits for two seconds, which a busy machine may need
			if err == nil || !strings.Contains(err.Error(), "does not answer") {
				break
			}
		}
		return err
	})
}

// TestHangingSourceBlocksNoStatus checks a server whose source does not answer requests of one kind, or of any
// kind. The status still answers. The waiting processes can be killed, the mount can be unmounted, and the
// server ends.
func TestHangingSourceBlocksNoStatus(t *testing.T) {
	t.Parallel() // most of the time is waiting
	for _, kinds := range []string{"lookup", "getattr", "open", "readdir", "read",
		"lookup,getattr,open,readdir,readlink,getxattr,read"} {
		t.Run(kinds, func(t *testing.T) {
			t.Parallel() // most of the time is waiting
			late := serveLate(t, sparse.write(t))
			s := mountServer(t, late.Dir)
			releaseAtEnd(t, late)
			setMode(t, late, "-hang", kinds)
			w := newWaiters()
			eventually(t, "a request hangs", func() bool {
				if len(w.commands) < maxWaiters-1 {
					w.start(t, nil, "stat", filepath.Join(s.dir, "color/1/z0/y0/x0.raw"))
					w.start(t, nil, "cat", filepath.Join(s.dir, "color/1/volume.raw"))
				}
				return hangingRequests(t, late) > 0
			})
			// The kernel caches names and attributes for a second. After that it asks the server again.
			for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end) &&
				!t.Failed(); time.Sleep(300 * time.Millisecond) {
				wantStatusSoon(t, s)
			}
			runSoon(t, "umount", "--lazy", s.dir)
			w.kill(t, late, kinds)
			s.wantExit(t, 0)
		})
	}
}
