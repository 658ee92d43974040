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

	"github.com/wkwfs/wkwfs/internal/status"
)

// hangAll makes the disk answer nothing until what is asked is given up, or the function that it returns is
// called. waiting counts what waits.
func hangAll(t *testing.T, disk *faulty) (waiting *atomic.Int32, release func()) {
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
	t.Cleanup(release) // or nobody could unmount
	return waiting, release
}

// TestStatusWhileTheSourceHangs: a disk that answers nothing at all is no reason not to say so. Nor do the attributes
// of the root wait for it, for which the kernel asks before it looks at anything in the mount.
func TestStatusWhileTheSourceHangs(t *testing.T) {
	source := tempDir(t)
	small.write(t, source, 0, 0, 0)
	disk := serveFaulty(t, source)
	dir := mount(t, disk.dir)
	waiting, release := hangAll(t, disk)
	reader := make(chan error, 1)
	go func() {
		got, err := os.ReadFile(filepath.Join(dir, "z0/y0/x0.raw"))
		if err == nil && !bytes.Equal(got, small.flat()) {
			t.Errorf("read %d bytes that are not the model's", len(got))
		}
		reader <- err
	}()
	eventually(t, "a reader waits", func() bool { return waiting.Load() > 0 })
	for range 2 { // what the kernel has known of the root is a second old then
		time.Sleep(1100 * time.Millisecond)
		start := time.Now()
		if got := names(t, filepath.Join(dir, status.Dir)); got != "metrics status.json" {
			t.Errorf("there is %s", got)
		}
		got := parseStatus(t, []byte(mustRun(t, "status", "--json", dir)))
		if io := got.SourceIO; got.Reads.Bytes != 0 || io.Looks == 0 || io.UnderWay == 0 || io.LongestWait < 1 {
			t.Errorf("read: %+v; of the source: %+v", got.Reads, io)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("the root: %v, %v", info, err)
		}
		if took := time.Since(start); took > deadline/10 {
			t.Errorf("it took %v", took)
		}
	}
	if text := mustRun(t, "status", dir); !strings.Contains(text, " under way (") || !strings.Contains(text, ", one of them for ") {
		t.Errorf("it says\n%s", text)
	}
	release()
	if err := <-reader; err != nil {
		t.Error(err)
	}
}

// TestAllWaitsCanBeEnded: whoever looks up, opens, lists or asks for attributes while the disk answers nothing can be
// killed. Then the mount can be taken away, and its server ends.
func TestAllWaitsCanBeEnded(t *testing.T) {
	source := tempDir(t)
	small.write(t, source, 0, 0, 0)
	disk := serveFaulty(t, source)
	s := mountServer(t, disk.dir)
	waiting, _ := hangAll(t, disk)
	var all []*exec.Cmd
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
		all = append(all, cmd)
	}
	eventually(t, "they wait", func() bool { return waiting.Load() > 1 })
	start := time.Now()
	for _, cmd := range all {
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range all {
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		eventually(t, strings.Join(cmd.Args, " ")+" ends", func() bool { return len(ended) > 0 })
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v until they had ended", took)
	}
	mustRun(t, "umount", s.dir)
	s.wantExit(t, 0)
}
