package integration

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// failReads returns a fault that lets reads of bytes start to end of cube files fail.
func failReads(errno syscall.Errno, start, end int64) fault {
	return func(_ context.Context, op, path string, readStart, readEnd int64) syscall.Errno {
		if op == opRead && filepath.Ext(path) == ".wkw" && filepath.Base(path) != "header.wkw" && readStart < end &&
			start < readEnd {
			return errno
		}
		return 0
	}
}

// TestDiskErrors lets reads of parts of a cube file fail below the mount. Only the blocks that need these parts
// fail, and only while the disk fails: nothing caches the error, not even the page cache.
func TestDiskErrors(t *testing.T) {
	source := tempDir(t)
	file := small.file(t)
	writeFile(t, filepath.Join(source, "z0/y0/x0.wkw"), file)
	small.writeHeader(t, source)
	disk := serveFaulty(t, source)
	startOf := func(block int) int64 { return int64(tableEntry(file, block-1)) }
	for _, c := range []struct {
		name       string
		start, end int64
		bad        []int
	}{
		{"header", 0, 1, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{"entry 2 of the table", smallTable + 16, smallTable + 17, []int{2, 3}},
		{"first byte of block 3", startOf(3), startOf(3) + 1, []int{3}},
		{"last byte of block 3", startOf(4) - 1, startOf(4), []int{3}},
		{"blocks 4 and 5", startOf(5) - 1, startOf(5) + 1, []int{4, 5}},
		{"all blocks", startOf(1) - 1, int64(len(file)), []int{0, 1, 2, 3, 4, 5, 6, 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk.set(failReads(unix.EIO, c.start, c.end))
			cube := filepath.Join(mount(t, disk.dir), "z0/y0/x0")
			for _, bad := range [][]int{c.bad, nil} {
				checkBlocks(t, cube+".blocks", bad)
				checkDirect(t, cube+".raw", small.flat(), bad)
				checkPages(t, cube+".raw", small.flat(), bad)
				disk.set(nil)
			}
		})
	}
}

// TestDirectoryErrors lets open, stat and list fail, one after the other, for a volume of several cubes. An
// error never makes a cube look absent.
func TestDirectoryErrors(t *testing.T) {
	for _, op := range []string{opOpen, opStat, opList} {
		t.Run(op, func(t *testing.T) {
			source := sparse.write(t)
			sparse.writeHeader(t, filepath.Join(source, "color/1"))
			disk := serveFaulty(t, source)
			dir := filepath.Join(mount(t, disk.dir), "color/1")
			want := sparse.box(sparse.min, sparse.max())
			disk.set(func(_ context.Context, failed, path string, _, _ int64) syscall.Errno {
				if failed == op && strings.HasPrefix(path, "color/1/z") {
					return unix.EIO
				}
				return 0
			})
			for _, name := range []string{"volume.raw", "box/5-55_3-43_2-72.raw"} {
				got, err := os.ReadFile(filepath.Join(dir, name))
				if err == nil && !bytes.Equal(got, want) || err != nil && !errors.Is(err, unix.EIO) {
					t.Errorf("%s: got %d bytes, error %v; want the model's bytes or EIO", name, len(got), err)
				}
			}
			disk.set(nil)
			for _, name := range []string{"volume.raw", "box/5-55_3-43_2-72.raw"} {
				got, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s after the fault: got %d bytes, error %v; want the model's bytes", name, len(got), err)
				}
			}
		})
	}
}

// TestStaleHandles lets a file server lose its open files. Readers of a cube get EIO. A volume opens its cubes
// again if they have not changed. The next open works.
func TestStaleHandles(t *testing.T) {
	disk := serveFaulty(t, sparse.write(t))
	dir := filepath.Join(mount(t, disk.dir, "--cache-size", "0"), "color/1")
	for name, want := range map[string][]byte{
		"volume.raw":   sparse.box(sparse.min, sparse.max()),
		"z0/y1/x2.raw": sparse.flat(),
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			path := filepath.Join(dir, name)
			old := openDirect(t, path)
			p := make([]byte, len(want))
			if n, err := old.ReadAt(p, 0); err != nil || !bytes.Equal(p[:n], want) {
				t.Fatalf("before the loss: %d bytes, %v", n, err)
			}
			disk.makeHandlesStale()
			n, err := old.ReadAt(p, 0)
			readsOn := name == "volume.raw" && err == nil && bytes.Equal(p[:n], want)
			if !readsOn && !errors.Is(err, unix.EIO) {
				t.Errorf("the open file: %d bytes, %v; want EIO, or the bytes if it is a volume", n, err)
			}
			if err := old.Close(); err != nil {
				t.Error(err)
			}
			eventually(t, "the next open reads", func() bool {
				n, err := openDirect(t, path).ReadAt(p, 0)
				return err == nil && bytes.Equal(p[:n], want)
			})
		})
	}
}

// openDirect opens a file that bypasses the page cache.
func openDirect(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// hangBlockReads makes reads of the blocks of small cubes wait until they are canceled or release is called.
// waiting is the number of these reads so far.
func hangBlockReads(t *testing.T, disk *faulty) (waiting *atomic.Int32, release func()) {
	waiting, released := new(atomic.Int32), make(chan struct{})
	end := int64(smallTable + 8*8)
	disk.set(func(ctx context.Context, op, _ string, _, to int64) syscall.Errno {
		if op != opRead || to <= end {
			return 0
		}
		waiting.Add(1)
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

// TestHangingSource reads from a disk that does not answer. A reader can be killed, though its read goes on for
// 5 seconds. Names can be looked up and listed. When the disk answers again, a reader that waited gets the
// right bytes.
func TestHangingSource(t *testing.T) {
	source := tempDir(t)
	small.write(t, source, 0, 0, 0)
	disk := serveFaulty(t, source)
	dir := mount(t, disk.dir)
	name := filepath.Join(dir, "z0/y0/x0.raw")
	waiting, release := hangBlockReads(t, disk)
	killed := exec.Command("dd", "iflag=direct", "bs=4096", "of=/dev/null",
		"if="+filepath.Join(dir, "z0/y0/x0.blocks/z1/y1/x1.raw"))
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a reader waits", func() bool { return waiting.Load() > 0 })
	result := make(chan error, 1)
	go func() {
		got, err := os.ReadFile(name)
		if err == nil && !bytes.Equal(got, small.flat()) {
			err = errors.New("wrong bytes")
		}
		result <- err
	}()
	eventually(t, "both readers wait", func() bool { return waiting.Load() > 1 })
	if got := names(t, filepath.Join(dir, "z0/y0")); got != "x0.blocks x0.raw" {
		t.Errorf("while readers wait, the listing is %q", got)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- killed.Wait() }()
	eventually(t, "the killed reader ends", func() bool { return len(ended) > 0 })
	release()
	if err := <-result; err != nil {
		t.Errorf("the reader that waited: %v", err)
	}
}

// TestSignalsWhileTheSourceHangs checks that two signals end a server that waits for a disk. Its readers get an
// error.
func TestSignalsWhileTheSourceHangs(t *testing.T) {
	source := tempDir(t)
	small.write(t, source, 0, 0, 0)
	disk := serveFaulty(t, source)
	s := mountServer(t, disk.dir)
	waiting, _ := hangBlockReads(t, disk)
	reader := make(chan error, 1)
	f := open(t, filepath.Join(s.dir, "z0/y0/x0.raw"))
	go func() {
		_, err := f.ReadAt(make([]byte, 1), 0)
		reader <- err
	}()
	eventually(t, "a reader waits", func() bool { return waiting.Load() > 0 })
	s.signal(t, unix.SIGTERM)
	eventually(t, "the mount disappears", func() bool { return !isMounted(s.dir) })
	s.signal(t, unix.SIGTERM)
	s.wantExit(t, 0)
	if err := <-reader; !isServerGone(err) {
		t.Errorf("the reader got %v", err)
	}
}

// isServerGone reports whether an error is one of those that a reader gets when the server ends.
func isServerGone(err error) bool {
	return slices.ContainsFunc([]error{unix.ENOTCONN, unix.ECONNABORTED, unix.EIO},
		func(e error) bool { return errors.Is(err, e) })
}
