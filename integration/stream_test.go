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

// wideLayer is a layer of cubes side by side, each of other voxels, whose layers of blocks are
// larger than the cache.
type wideLayer struct {
	model
	cubes int      // on x and y
	flat  [][]byte // of each cube
}

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

// plane is the voxels with one z.
func (w wideLayer) plane(z int) []byte {
	var b []byte
	side := w.side()
	for y := range w.cubes * side {
		for x := range w.cubes {
			begin := side * (y%side + side*z)
			b = append(b, w.flat[x+w.cubes*(y/side)][begin:begin+side]...)
		}
	}
	return b
}

// TestWideLayer reads a layer from begin to end with less cache than a layer of blocks
// takes: every byte is right, and still most blocks are decoded once, and not for each of
// their 32 planes. More is read before the reader is known to go on, and, behind a header, for pages in which
// one plane ends and the next begins.
func TestWideLayer(t *testing.T) {
	source := t.TempDir()
	w := writeWide(t, source)
	stored := storedBytes(t, source)
	for _, name := range []string{"volume.raw", "volume.npy"} {
		t.Run(name, func(t *testing.T) {
			s := mountServer(t, source, "--cache-size", "16MiB") // a layer of blocks has 32
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
					t.Errorf("plane %d is not the model's", z)
				}
			}
			if given := int64(statusOf(t, s.dir).Reads.Bytes); given < info.Size() {
				t.Errorf("the status tells of %d bytes, fewer than the %d that were read", given, info.Size())
			}
			const most = 4 // where the machine is busy, pages may come too late
			ratio := float64(bytesRead(t, s.pid)-before) / float64(stored)
			if t.Logf("the server read %.2f times what is stored", ratio); ratio > most {
				t.Errorf("expected at most %v", most)
			}
		})
	}
}

// TestPushed reads the first planes of a cube: what follows comes into the page cache, further than
// the kernel reads ahead, unless the reader goes past it.
func TestPushed(t *testing.T) {
	source := t.TempDir()
	m := model{blockLog: 5, cubeLog: 3, blockType: 2, voxelType: 1, channels: 1} // 256³
	m.write(t, source, 0, 0, 0)
	const plane = 256 * 256
	const read = 16 // planes; that the reader goes on is known after 9, or some more if the kernel's reads change places
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
			for z := range read {
				if n, err := unix.Pread(fd, p, int64(z)*plane); n != plane || err != nil {
					t.Fatalf("plane %d: %d bytes, %v", z, n, err)
				}
			}
			given := func() uint64 { return statusOf(t, s.dir).Reads.Bytes }
			if !c.want {
				time.Sleep(200 * time.Millisecond) // for what should not happen
				if got := given(); got != read*plane {
					t.Errorf("%d bytes were given for the %d that were read", got, read*plane)
				}
				return
			}
			eventually(t, "the end of the first layer of blocks is in the page cache", func() bool { return resident(t, fd, 31*plane, plane) })
			if got := given(); got < (read+3)*plane {
				t.Errorf("the status tells of %d bytes", got)
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
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&p[0])), uintptr(n), uintptr(unsafe.Pointer(&pages[0]))); errno != 0 {
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

// bytesRead returns how many bytes a process has read, from files and elsewhere.
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
