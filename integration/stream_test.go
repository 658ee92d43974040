package integration

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wideLayer is a layer of one cube in z and several in x and y. Each cube has voxels of its own.
type wideLayer struct {
	model
	cubes int      // on each of x and y
	flat  [][]byte // voxels of each cube
}

// writeWide writes a layer whose slabs have 32 MiB.
func writeWide(t *testing.T, source string) wideLayer {
	t.Helper()
	w := wideLayer{model: model{blockLog: 5, cubeLog: 2, blockType: 2, voxelType: 1, channels: 1}, cubes: 8}
	for i := range w.cubes * w.cubes {
		w.seed = uint32(i) << 20
		w.model.write(t, source, i%w.cubes, i/w.cubes, 0)
		w.flat = append(w.flat, w.model.flat())
	}
	return w
}

// plane returns the voxels of one plane.
func (w wideLayer) plane(z int) []byte {
	var b []byte
	side := w.side()
	for y := range w.cubes * side {
		for x := range w.cubes {
			start := side * (y%side + side*z)
			b = append(b, w.flat[x+w.cubes*(y/side)][start:start+side]...)
		}
	}
	return b
}

// TestWideLayer reads a layer from start to end with a cache that is smaller than a slab. Every byte is right,
// and most blocks are decoded once, not once for each of their 32 planes. Some are decoded twice: those that
// are read before the server detects sequential access, and, after a header, those in pages at the border of
// two planes.
func TestWideLayer(t *testing.T) {
	source := t.TempDir()
	w := writeWide(t, source)
	stored := storedBytes(t, source)
	for _, name := range []string{"volume.raw", "volume.npy"} {
		t.Run(name, func(t *testing.T) {
			s := mountServer(t, source, "--cache-size", "16MiB") // half of a slab
			before := bytesRead(t, s.pid)
			f, err := os.Open(filepath.Join(s.dir, name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			plane := make([]byte, len(w.plane(0)))
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.CopyN(io.Discard, f, info.Size()-int64(w.side()*len(plane))); err != nil {
				t.Fatal(err)
			}
			for z := range w.side() {
				if _, err := io.ReadFull(f, plane); err != nil {
					t.Fatalf("plane %d: %v", z, err)
				}
				if !bytes.Equal(plane, w.plane(z)) {
					t.Errorf("plane %d has wrong bytes", z)
				}
			}
			if served := int64(statusOf(t, s.dir).Reads.Bytes); served < info.Size() {
				t.Errorf("the status shows %d bytes, fewer than the %d that were read", served, info.Size())
			}
			const limit = 4 // on a busy machine, pages may be pushed too late
			ratio := float64(bytesRead(t, s.pid)-before) / float64(stored)
			if t.Logf("the server read %.2f times the stored bytes", ratio); ratio > limit {
				t.Errorf("the server read %.2f times the stored bytes, want at most %v", ratio, limit)
			}
		})
	}
}

// TestPushed reads the first planes of a cube. The server pushes the next planes into the page cache, beyond
// the kernel's readahead, but not if the reader bypasses the page cache.
func TestPushed(t *testing.T) {
	source := t.TempDir()
	m := model{blockLog: 5, cubeLog: 3, blockType: 2, voxelType: 1, channels: 1} // 256³
	m.write(t, source, 0, 0, 0)
	const plane = 256 * 256
	// planes is what the test reads. The server detects sequential access after 9 planes, or a few more if the kernel's
	// requests change their order.
	const planes = 16
	for name, c := range map[string]struct {
		flags int
		want  bool
	}{"page cache": {0, true}, "O_DIRECT": {unix.O_DIRECT, false}} {
		t.Run(name, func(t *testing.T) {
			s := mountServer(t, source)
			fd, err := unix.Open(filepath.Join(s.dir, "z0/y0/x0.raw"), unix.O_RDONLY|c.flags, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			p, err := unix.Mmap(-1, 0, plane, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE) // aligned
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Munmap(p)
			for z := range planes {
				if n, err := unix.Pread(fd, p, int64(z)*plane); n != plane || err != nil {
					t.Fatalf("plane %d: %d bytes, %v", z, n, err)
				}
			}
			served := func() uint64 { return statusOf(t, s.dir).Reads.Bytes }
			if !c.want {
				time.Sleep(200 * time.Millisecond) // the time in which pushes would happen
				if got := served(); got != planes*plane {
					t.Errorf("the server returned %d bytes, want the %d that were read", got, planes*plane)
				}
				return
			}
			eventually(t, "the last plane of the first slab is in the page cache",
				func() bool { return resident(t, fd, 31*plane, plane) })
			if got := served(); got < (planes+3)*plane {
				t.Errorf("the status shows %d bytes, want at least %d", got, (planes+3)*plane)
			}
		})
	}
}

// resident reports whether a range of a file is in the page cache.
func resident(t *testing.T, fd int, off int64, n int) bool {
	t.Helper()
	p, err := unix.Mmap(fd, off, n, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(p)
	pages := make([]byte, (n+4095)/4096)
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&p[0])), uintptr(n),
		uintptr(unsafe.Pointer(&pages[0]))); errno != 0 {
		t.Fatal(errno)
	}
	return !slices.ContainsFunc(pages, func(page byte) bool { return page&1 == 0 })
}

// storedBytes returns the size of all files below a directory.
func storedBytes(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		n += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// bytesRead returns the number of bytes that a process has read, from files and other descriptors.
func bytesRead(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(string(regexp.MustCompile(`rchar: (\d+)`).FindSubmatch(b)[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
