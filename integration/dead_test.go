package integration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// kill kills the server, which leaves a dead mount.
func (s *server) kill(t *testing.T) {
	t.Helper()
	s.signal(t, unix.SIGKILL)
	s.wantExit(t, -1)
	var st unix.Statfs_t
	if err := unix.Statfs(s.dir, &st); !errors.Is(err, unix.ENOTCONN) {
		t.Fatalf("statfs of a mount without a server: %v", err)
	}
}

// TestDeadMount checks that the mount of a killed server can be replaced and unmounted.
func TestDeadMount(t *testing.T) {
	source := dataset(t)
	t.Run("mounted again", func(t *testing.T) {
		old := mountServer(t, source)
		old.kill(t)
		log := filepath.Join(tempDir(t), "log")
		link := filepath.Join(tempDir(t), "link") // a stat of its target would fail
		if err := os.Symlink(old.dir, link); err != nil {
			t.Fatal(err)
		}
		s := mountOn(t, source, link, "--log-file", log)
		if names(t, old.dir) == "" || len(mountsAt(old.dir)) != 1 {
			t.Errorf("mounted at %s: %v", old.dir, mountsAt(old.dir))
		}
		text, err := os.ReadFile(log)
		if err != nil || !strings.Contains(string(text), "cleared a dead mount") {
			t.Errorf("the log is %q, error %v; want a line that a dead mount was cleared", text, err)
		}
		mustRun(t, "umount", link)
		s.wantExit(t, 0)
	})
	t.Run("umount", func(t *testing.T) {
		s := mountServer(t, source)
		s.kill(t)
		mustRun(t, "umount", s.dir)
		wantUnmounted(t, s.dir)
	})
}

// TestKilledWhilePushing: the readers of servers that are killed while they push pages end, with right bytes or an
// error, as soon as the mount is removed as the systemd unit removes it. Without --force, the kernel keeps some of them
// for ever.
func TestKilledWhilePushing(t *testing.T) {
	parallelHeavy(t)
	requireRoot(t)
	source := writePanicVolume(t)
	want, err := os.ReadFile(filepath.Join(mount(t, source), "color/1/volume.raw"))
	if err != nil {
		t.Fatal(err)
	}
	for round := range 6 {
		s := mountServer(t, source, "--cache-size", "12MiB", "--log-file", os.DevNull)
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				f, err := os.Open(filepath.Join(s.dir, "color/1/volume.raw"))
				if err != nil {
					return // the server was killed before
				}
				defer f.Close()
				p := make([]byte, 1<<20)
				for off := int64(0); off < int64(len(want)); {
					n, err := f.ReadAt(p, off)
					if !bytes.Equal(p[:n], want[off:off+int64(n)]) {
						t.Errorf("round %d: wrong bytes at offset %d", round, off)
					}
					if off += int64(n); err != nil {
						return
					}
				}
			})
		}
		// somewhere in the volume; at the end of it, nothing is tested
		time.Sleep(time.Duration(20+30*round) * time.Millisecond)
		s.signal(t, unix.SIGKILL)
		// as in the unit, where its failure does not count
		_ = exec.Command("umount", "--quiet", "--force", "--lazy", s.dir).Run()
		ended := make(chan struct{})
		go func() { readers.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatalf("round %d: readers wait for a server that was killed", round)
		}
		s.wantExit(t, -1)
		wantUnmounted(t, s.dir)
	}
}

// TestDeadMountOfOthers checks that a dead mount of another file system is not removed.
func TestDeadMountOfOthers(t *testing.T) {
	requireFUSE(t)
	requireRoot(t)
	dir := tempDir(t)
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", device.Fd())
	if err := unix.Mount("theirs", dir, "fuse.other", 0, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	device.Close() // this ends its server
	r := wkwfs(t, "mount", dataset(t), dir)
	if r.code != 1 || !strings.Contains(r.stderr, "is a dead mount of type fuse.other (theirs)") {
		t.Errorf("exit code %d, stderr %q", r.code, r.stderr)
	}
}
