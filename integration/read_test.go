package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// models returns cubes of all voxel types and compressions, and of many block and cube sizes.
func models() []model {
	var models []model
	for voxelType := 1; voxelType <= 10; voxelType++ {
		for blockType := 1; blockType <= 3; blockType++ {
			models = append(models, model{blockLog: 3, cubeLog: 1, blockType: blockType, voxelType: voxelType,
				channels: 1 + voxelType%3})
		}
	}
	for _, sides := range [][2]int{{0, 0}, {0, 3}, {1, 4}, {5, 0}, {2, 2}, {5, 1}, {6, 0}} {
		for blockType := 1; blockType <= 3; blockType++ {
			models = append(models, model{blockLog: sides[0], cubeLog: sides[1], blockType: blockType, voxelType: 2,
				channels: 1})
		}
	}
	return append(models, model{blockLog: 1, cubeLog: 1, blockType: 2, voxelType: 1, channels: 255})
}

// TestReadAgreesWithModel compares random ranges and blocks of all kinds of cubes with the model.
func TestReadAgreesWithModel(t *testing.T) {
	source := t.TempDir()
	for _, m := range models() {
		m.write(t, filepath.Join(source, m.String(), "1"), 2, 1, 0)
	}
	for _, procs := range []string{"1", "4"} {
		t.Run("GOMAXPROCS="+procs, func(t *testing.T) {
			t.Setenv("GOMAXPROCS", procs)
			dir := mount(t, source)
			for _, m := range models() {
				cube := filepath.Join(dir, m.String(), "1/z0/y1/x2")
				compareRanges(t, cube+".raw", m.flat())
				compareBlocks(t, cube+".blocks", m)
			}
		})
	}
}

// compareRanges compares random ranges of a file, and the whole file, with the bytes.
func compareRanges(t *testing.T, name string, want []byte) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() != int64(len(want)) {
		t.Errorf("%s has %d bytes, want %d; error %v", name, info.Size(), len(want), err)
	}
	r := rand.New(rand.NewPCG(7, uint64(len(want))))
	for range 40 {
		off := r.IntN(len(want) + 10)
		p := make([]byte, 1+r.IntN(1+r.IntN(len(want)+10)))
		n, err := f.ReadAt(p, int64(off))
		end := min(off+len(p), len(want))
		switch {
		case off+len(p) > len(want) && err != io.EOF, off+len(p) <= len(want) && err != nil:
			t.Errorf("%s: read of %d bytes at %d: error %v", name, len(p), off, err)
		case off < end && !bytes.Equal(p[:n], want[off:end]), off >= end && n != 0:
			t.Errorf("%s: read of %d bytes at %d: wrong bytes", name, len(p), off)
		}
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: reading all of it: wrong bytes, or error %v", name, err)
	}
}

// compareBlocks compares up to 60 random block files of a cube with the model.
func compareBlocks(t *testing.T, dir string, m model) {
	t.Helper()
	side, n := 1<<m.blockLog, 1<<m.cubeLog
	r := rand.New(rand.NewPCG(8, 8))
	for range min(n*n*n, 60) {
		x, y, z := r.IntN(n), r.IntN(n), r.IntN(n)
		name := fmt.Sprintf("%s/z%d/y%d/x%d.raw", dir, z, y, x)
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, m.part(x*side, y*side, z*side, side)) {
			t.Errorf("%s: got %d bytes, error %v; want the model's bytes", name, len(got), err)
		}
	}
}

// big is a cube with enough blocks for many readers: 128³ voxels.
var big = model{blockLog: 4, cubeLog: 3, blockType: 2, voxelType: 2, channels: 1}

// mountBig mounts big. It returns the path and the voxels of the cube.
func mountBig(t *testing.T, args ...string) (name string, want []byte) {
	t.Helper()
	source := t.TempDir()
	big.write(t, source, 0, 0, 0)
	return filepath.Join(mount(t, source, args...), "z0/y0/x0.raw"), big.flat()
}

// TestManyReaders reads one cube by 64 readers, with a cache that is too small, so that blocks are evicted all
// the time.
func TestManyReaders(t *testing.T) {
	name, want := mountBig(t, "--cache-size", "100KiB")
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			f, err := os.Open(name)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			r := rand.New(rand.NewPCG(9, uint64(i)))
			for range 50 {
				off := r.IntN(len(want) - 1)
				p := make([]byte, 1+r.IntN(min(len(want)-off, 100_000)))
				if _, err := f.ReadAt(p, int64(off)); err != nil || !bytes.Equal(p, want[off:off+len(p)]) {
					t.Errorf("read of %d bytes at %d: wrong bytes, or error %v", len(p), off, err)
					return
				}
			}
		})
	}
	group.Wait()
}

// TestDirectIO reads ranges of all kinds past the page cache.
func TestDirectIO(t *testing.T) {
	name, want := mountBig(t)
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for _, c := range []struct{ off, n int }{{0, 1}, {0, 4096}, {4095, 2}, {12345, 54321}, {0, len(want)},
		{len(want) - 10, 100}, {len(want), 5}} {
		p := make([]byte, c.n)
		n := 0
		for n < len(p) {
			got, err := unix.Pread(fd, p[n:], int64(c.off+n))
			if err != nil {
				t.Fatalf("read of %d bytes at %d: %v", c.n, c.off, err)
			}
			if got == 0 {
				break
			}
			n += got
		}
		if end := min(c.off+c.n, len(want)); !bytes.Equal(p[:n], want[c.off:end]) {
			t.Errorf("read of %d bytes at %d: got %d bytes, which are wrong", c.n, c.off, n)
		}
	}
}

// TestMmap reads a shared and a private mapping. A writable mapping is refused.
func TestMmap(t *testing.T) {
	name, want := mountBig(t)
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, flags := range []int{unix.MAP_SHARED, unix.MAP_PRIVATE} {
		m, err := unix.Mmap(int(f.Fd()), 0, len(want), unix.PROT_READ, flags)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(3, 3))
		for range 300 {
			if i := r.IntN(len(want)); m[i] != want[i] {
				t.Errorf("byte %d is %d, want %d", i, m[i], want[i])
			}
		}
		if !bytes.Equal(m, want) {
			t.Error("the mapping does not have the bytes of the model")
		}
		if err := unix.Munmap(m); err != nil {
			t.Error(err)
		}
	}
	if _, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); !errors.Is(err,
		unix.EACCES) {
		t.Errorf("a writable mapping: %v, want EACCES", err)
	}
}

// TestEndOfFile checks reads at the end of the file and after it.
func TestEndOfFile(t *testing.T) {
	name, want := mountBig(t)
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := int64(len(want))
	for _, c := range []struct {
		off int64
		len int
		n   int
	}{{size - 1, 1, 1}, {size - 1, 2, 1}, {size, 1, 0}, {size + 1, 1, 0}, {size + 1<<40, 10, 0}, {0, 0, 0},
		{size - 5000, 10000, 5000}} {
		n, err := unix.Pread(int(f.Fd()), make([]byte, c.len), c.off)
		if n != c.n || err != nil {
			t.Errorf("read of %d bytes at %d: got %d, %v; want %d", c.len, c.off, n, err, c.n)
		}
	}
	if end, err := f.Seek(0, io.SeekEnd); end != size || err != nil {
		t.Errorf("seek to the end: %d, %v; want %d", end, err, size)
	}
}
