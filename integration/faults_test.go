package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// failing makes reads that touch bytes off … end of any file fail.
func failing(number syscall.Errno, off, end int64) fault {
	return func(_ context.Context, op, path string, from, to int64) syscall.Errno {
		if op == opRead && filepath.Ext(path) == ".wkw" && filepath.Base(path) != "header.wkw" && from < end && off < to {
			return number
		}
		return 0
	}
}

// TestErrorsOfTheDisk lets reads of parts of a cube file fail below the mount. Only
// what depends on them fails, and only for as long: nobody remembers an error, the page
// cache included.
func TestErrorsOfTheDisk(t *testing.T) {
	source := tempDir(t)
	file := small.file(t)
	writeFile(t, filepath.Join(source, "z0/y0/x0.wkw"), file)
	small.writeHeader(t, source)
	disk := serveFaulty(t, source)
	begin := func(block int) int64 { return int64(tableEntry(file, block-1)) }
	for _, c := range []struct {
		name     string
		off, end int64
		bad      []int
	}{
		{"header", 0, 1, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{"entry 2 of the table", smallTable + 16, smallTable + 17, []int{2, 3}},
		{"first byte of block 3", begin(3), begin(3) + 1, []int{3}},
		{"last byte of block 3", begin(4) - 1, begin(4), []int{3}},
		{"blocks 4 and 5", begin(5) - 1, begin(5) + 1, []int{4, 5}},
		{"all blocks", begin(1) - 1, int64(len(file)), []int{0, 1, 2, 3, 4, 5, 6, 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk.set(failing(unix.EIO, c.off, c.end))
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

// TestErrorsOfDirectories lets all operations but reads fail, one after the other, for
// a volume of several cubes: an error is never taken for the absence of a cube.
func TestErrorsOfDirectories(t *testing.T) {
	for _, op := range []string{opOpen, opStat, opList} {
		t.Run(op, func(t *testing.T) {
			source := sparse.write(t)
			sparse.writeHeader(t, filepath.Join(source, "color/1"))
			disk := serveFaulty(t, source)
			dir := filepath.Join(mount(t, disk.dir), "color/1")
			want := sparse.box(sparse.min, sparse.max())
			disk.set(func(_ context.Context, asked, path string, _, _ int64) syscall.Errno {
				if asked == op && strings.HasPrefix(path, "color/1/z") {
					return unix.EIO
				}
				return 0
			})
			for _, name := range []string{"volume.raw", "box/5-55_3-43_2-72.raw"} {
				got, err := os.ReadFile(filepath.Join(dir, name))
				if err == nil && !bytes.Equal(got, want) || err != nil && !errors.Is(err, unix.EIO) {
					t.Errorf("%s: %d bytes, not the model's; error %v", name, len(got), err)
				}
			}
			disk.set(nil)
			for _, name := range []string{"volume.raw", "box/5-55_3-43_2-72.raw"} {
				got, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s afterwards: %d bytes, not the model's; error %v", name, len(got), err)
				}
			}
		})
	}
}

// TestStaleHandles lets a file server forget the files that are open. Who has a cube open
// gets EIO; a volume opens its cubes anew, if they are what they were; and the next
// open works.
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
				t.Fatalf("before: %d bytes, %v", n, err)
			}
			disk.restart()
			n, err := old.ReadAt(p, 0)
			readsOn := name == "volume.raw" && err == nil && bytes.Equal(p[:n], want)
			if !readsOn && !errors.Is(err, unix.EIO) {
				t.Errorf("the open file: %d bytes, %v; want EIO, or the bytes of the volume", n, err)
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

// openDirect opens a file past the page cache.
func openDirect(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// hang makes reads of the blocks of small cubes wait until they are given up or the
// function that it returns is called. waiting counts those that do.
func hang(t *testing.T, disk *faulty) (waiting *atomic.Int32, release func()) {
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
	t.Cleanup(release) // or nobody could unmount
	return waiting, release
}

// TestSourceThatHangs reads from a disk that does not answer: who waits can be killed,
// though a read goes on for 5 seconds after a signal; names can be looked up and listed;
// and when the disk is back all is as it was.
func TestSourceThatHangs(t *testing.T) {
	source := tempDir(t)
	small.write(t, source, 0, 0, 0)
	disk := serveFaulty(t, source)
	dir := mount(t, disk.dir)
	name := filepath.Join(dir, "z0/y0/x0.raw")
	waiting, release := hang(t, disk)
	impatient := exec.Command("dd", "iflag=direct", "bs=4096", "of=/dev/null", "if="+filepath.Join(dir, "z0/y0/x0.blocks/z1/y1/x1.raw"))
	if err := impatient.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a reader waits", func() bool { return waiting.Load() > 0 })
	patient := make(chan error, 1)
	go func() {
		got, err := os.ReadFile(name)
		if err == nil && !bytes.Equal(got, small.flat()) {
			err = errors.New("not the model's bytes")
		}
		patient <- err
	}()
	eventually(t, "both readers wait", func() bool { return waiting.Load() > 1 })
	if got := names(t, filepath.Join(dir, "z0/y0")); got != "x0.blocks x0.raw" {
		t.Errorf("meanwhile there is %s", got)
	}
	if err := impatient.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- impatient.Wait() }()
	eventually(t, "the reader that was killed ends", func() bool { return len(ended) > 0 })
	release()
	if err := <-patient; err != nil {
		t.Errorf("the reader that waited: %v", err)
	}
}

// TestSignalsWhileTheSourceHangs: two signals end the server also when it waits for a
// disk that does not answer, and with it those who wait for the server.
func TestSignalsWhileTheSourceHangs(t *testing.T) {
	source := tempDir(t)
	small.write(t, source, 0, 0, 0)
	disk := serveFaulty(t, source)
	s := mountServer(t, disk.dir)
	waiting, _ := hang(t, disk)
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
	if err := <-reader; !isLost(err) {
		t.Errorf("the reader got %v", err)
	}
}

// isLost reports whether an error is one that readers get whose server ends.
func isLost(err error) bool {
	return slices.ContainsFunc([]error{unix.ENOTCONN, unix.ECONNABORTED, unix.EIO}, func(e error) bool { return errors.Is(err, e) })
}

// TestFewDescriptors lets the server have fewer files open than there are cubes. Who
// opens too many is told, nobody else suffers, and a volume reads whatever the number of
// its cubes.
func TestFewDescriptors(t *testing.T) {
	l := layer{
		model: model{blockLog: 2, cubeLog: 0, blockType: 2, voxelType: 1, channels: 1},
		size:  [3]int{24, 24, 24}, cubes: map[[3]int]bool{},
	}
	for i := range 6 * 6 * 6 {
		l.cubes[[3]int{i % 6, i / 6 % 6, i / 36}] = true
	}
	s := mountServer(t, l.write(t), "--cache-size", "0")
	limit := unix.Rlimit{Cur: 50, Max: 50}
	if err := unix.Prlimit(s.pid, unix.RLIMIT_NOFILE, &limit, nil); err != nil {
		t.Fatal(err)
	}
	dir, want := filepath.Join(s.dir, "color/1"), l.box(l.min, l.max())
	volume := func() error {
		got, err := os.ReadFile(filepath.Join(dir, "volume.raw"))
		if err == nil && !bytes.Equal(got, want) {
			err = errors.New("not the model's bytes")
		}
		return err
	}
	if err := volume(); err != nil {
		t.Errorf("the volume of more cubes than descriptors: %v", err)
	}
	var held []*os.File
	var err error
	for c := range l.cubes {
		var f *os.File
		if f, err = os.Open(filepath.Join(dir, fmt.Sprintf("z%d/y%d/x%d.raw", c[2], c[1], c[0]))); err != nil {
			break
		}
		t.Cleanup(func() { f.Close() })
		held = append(held, f)
	}
	if !errors.Is(err, unix.EMFILE) || len(held) < 10 {
		t.Fatalf("after %d open files: %v, want EMFILE", len(held), err)
	}
	for _, f := range held {
		p := make([]byte, 64)
		if _, err := f.ReadAt(p, 0); err != nil || !bytes.Equal(p, l.flat()) {
			t.Errorf("a file that is open: %v", err)
		}
		f.Close()
	}
	eventually(t, "the volume reads again", func() bool { err = volume(); return !errors.Is(err, unix.EMFILE) })
	if err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestFullLog fills the disk that the log is on: reads and errors are as ever.
func TestFullLog(t *testing.T) {
	requireRoot(t)
	source, disk := tempDir(t), tempDir(t)
	if err := unix.Mount("log", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	small.write(t, source, 0, 0, 0)
	damaged := small.file(t)
	writeFile(t, filepath.Join(source, "z0/y0/x1.wkw"), setEntry(damaged, 7, 0))
	if err := os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, 1<<20), 0o644); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
	dir := mount(t, source, "--log-file", filepath.Join(disk, "log"))
	checkBlocks(t, filepath.Join(dir, "z0/y0/x0.blocks"), nil)
	checkBlocks(t, filepath.Join(dir, "z0/y0/x1.blocks"), []int{7})
	checkPages(t, filepath.Join(dir, "z0/y0/x1.raw"), small.flat(), []int{7})
	if info, err := os.Stat(filepath.Join(disk, "log")); err != nil || info.Size() > 0 {
		t.Errorf("the log: %v, %v; want it empty", info, err)
	}
}
