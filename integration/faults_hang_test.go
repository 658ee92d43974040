package integration

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/serve/status"
)

// hangAllRequests makes all requests to the disk wait until they are canceled or release is called. waiting is
// the number of requests that wait.
func hangAllRequests(t *testing.T, disk *faulty) (waiting *atomic.Int32, release func()) {
	waiting, released := new(atomic.Int32), make(chan struct{})
	disk.set(func(ctx context.Context, _, _ string, _, _ int64) syscall.Errno {
		waiting.Add(1)
		defer waiting.Add(-1)
		select {
		case <-released:
			return 0
		case <-ctx.Done():
			return unix.EINTR
		}
	})
	release = sync.OnceFunc(func() { disk.set(nil); close(released) })
	t.Cleanup(release) // so that the source can be unmounted
	return waiting, release
}

// TestStatusWhileTheSourceHangs checks that the status answers while the disk answers nothing. The attributes
// of the root must not wait for the disk either: the kernel needs them before it can look up .wkwfs.
func TestStatusWhileTheSourceHangs(t *testing.T) {
	t.Parallel() // most of the time is waiting
	source := tempDir(t)
	small.write(t, source, 0, 0, 0)
	disk := serveFaulty(t, source)
	dir := mount(t, disk.dir)
	waiting, release := hangAllRequests(t, disk)
	reader := make(chan error, 1)
	go func() {
		got, err := os.ReadFile(filepath.Join(dir, "z0/y0/x0.raw"))
		if err == nil && !bytes.Equal(got, small.flat()) {
			t.Errorf("read %d bytes, not those of the model", len(got))
		}
		reader <- err
	}()
	eventually(t, "a reader waits", func() bool { return waiting.Load() > 0 })
	for range 2 { // after the kernel's cached attributes of the root expire
		time.Sleep(1100 * time.Millisecond)
		start := time.Now()
		if got := names(t, filepath.Join(dir, status.Dir)); got != "metrics status.json" {
			t.Errorf("%s has the entries %q", status.Dir, got)
		}
		got := parseStatus(t, []byte(mustRun(t, "status", "--json", dir)))
		if io := got.SourceIO; got.Reads.Bytes != 0 || io.Lookups == 0 || io.InFlight == 0 || io.LongestWait < 1 {
			t.Errorf("bytes read: %+v; requests to the source: %+v", got.Reads, io)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("stat of the root: %v, %v", info, err)
		}
		if took := time.Since(start); took > deadline { // what needs the disk never ends
			t.Errorf("the status took %v, want at most %v", took, deadline)
		}
	}
	if text := mustRun(t, "status", dir); !strings.Contains(text, " in flight (") ||
		!strings.Contains(text, ", the oldest for ") {
		t.Errorf("wkwfs status prints no waiting requests:\n%s", text)
	}
	release()
	if err := <-reader; err != nil {
		t.Error(err)
	}
}

// TestWaitingProcessesCanBeKilled kills processes that look up, open, list or ask for attributes while the disk
// answers nothing. They end. Then the mount can be unmounted, and its server ends.
func TestWaitingProcessesCanBeKilled(t *testing.T) {
	t.Parallel() // most of the time is waiting
	source := tempDir(t)
	small.write(t, source, 0, 0, 0)
	disk := serveFaulty(t, source)
	s := mountServer(t, disk.dir)
	waiting, _ := hangAllRequests(t, disk)
	var commands []*exec.Cmd
	for _, args := range [][]string{
		{"cat", filepath.Join(s.dir, "z0/y0/x0.raw")},
		{"stat", filepath.Join(s.dir, "z0")},
		{"ls", "-l", s.dir},
		{"ls", filepath.Join(s.dir, "slices")},
		{"head", "-c", "1", filepath.Join(s.dir, "volume.raw")},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		commands = append(commands, cmd)
	}
	eventually(t, "requests wait", func() bool { return waiting.Load() > 1 })
	start := time.Now()
	for _, cmd := range commands {
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range commands {
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		eventually(t, strings.Join(cmd.Args, " ")+" ends", func() bool { return len(ended) > 0 })
	}
	// Each ends within 5 seconds. Two of them look up z0, and the kernel may make one wait for the other.
	if took := time.Since(start); took > deadline {
		t.Errorf("the processes took %v to end, want at most %v", took, deadline)
	}
	mustRun(t, "umount", s.dir)
	s.wantExit(t, 0)
}
