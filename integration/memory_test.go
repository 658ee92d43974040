package integration

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMemoryStaysInBudget reads a cube that is twice as large as the cache, by many readers at once. The
// server's memory stays below the cache's budget plus 128 MiB.
func TestMemoryStaysInBudget(t *testing.T) {
	parallelHeavy(t)
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector has memory of its own")
	}
	m := model{blockLog: 5, cubeLog: 4, blockType: 2, voxelType: 1, channels: 1} // 128 MiB
	source := t.TempDir()
	m.write(t, source, 0, 0, 0)
	want := m.flat()
	t.Run("disk", func(t *testing.T) { checkMemory(t, source, want, 8, 500) })
	t.Run("late", func(t *testing.T) {
		checkMemory(t, serveLate(t, source, "-read", "5ms").Dir, want, 64, 60)
	})
}

// checkMemory starts readers of one cube. Of the first 16 readers, every fourth reads the cube from start to
// end. Each other reader reads 64 KiB at n random offsets.
func checkMemory(t testing.TB, source string, want []byte, readers, n int) {
	const budget = 64 << 20
	s := mountServer(t, source, "--cache-size", strconv.Itoa(budget))
	name := filepath.Join(s.dir, "z0/y0/x0.raw")
	var group sync.WaitGroup
	for i := range readers {
		group.Go(func() {
			f, err := os.Open(name)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			if i < 16 && i%4 == 0 {
				if n, err := io.Copy(&comparer{want}, f); err != nil || n != int64(len(want)) {
					t.Errorf("sequential read: got %d bytes, error %v; want the %d of the model", n, err, len(want))
				}
				return
			}
			r := rand.New(rand.NewPCG(1, uint64(i)))
			p := make([]byte, 1<<16)
			for range n {
				off := r.IntN(len(want) - len(p))
				if _, err := f.ReadAt(p, int64(off)); err != nil || !bytes.Equal(p, want[off:off+len(p)]) {
					t.Errorf("random read at offset %d: wrong bytes, or error %v", off, err)
				}
			}
		})
	}
	group.Wait()
	checkPeak(t, s, budget)
}

// TestMemoryOfObjects: the same limit holds while readers at random, and then one that is two slabs ahead, read a
// volume of an object store through a full cache, with and without a disk cache. The cubes do not compress, so requests
// are as large as they can be. Raw blocks are read into their memory; others are read together and decoded. The server
// is late, so as many requests are in flight as an object store gets.
func TestMemoryOfObjects(t *testing.T) {
	parallelHeavy(t)
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector has memory of its own")
	}
	for _, test := range []struct {
		name      string
		blockType int
		readers   int // at random
		diskCache bool
	}{
		{"raw, 8 readers", 1, 8, false},
		{"raw, 64 readers", 1, 64, false},
		{"raw, disk cache", 1, 64, true},
		{"LZ4, 64 readers", 2, 64, false},
		{"LZ4, disk cache", 2, 64, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var flags []string
			if test.diskCache {
				flags = []string{"--disk-cache", filepath.Join(tempDir(t), "cache")}
			}
			checkLateMemory(t, serveSlowly(t, zeros(t, test.blockType))+"/?token=geheim", test.readers, flags...)
		})
	}
}

// TestMemoryOfDistantServer: the same for a file server that is so late that requests to it are long.
func TestMemoryOfDistantServer(t *testing.T) {
	parallelHeavy(t)
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector has memory of its own")
	}
	for name, blockType := range map[string]int{"raw": 1, "LZ4": 2} {
		t.Run(name, func(t *testing.T) {
			late := serveLate(t, zeros(t, blockType), "-read", "20ms")
			checkLateMemory(t, late.Dir, 64)
		})
	}
}

// checkLateMemory has readers that read the volume of zeros at random, and then reads half of it, in order: four times
// as much as the cache keeps.
func checkLateMemory(t *testing.T, source string, readers int, flags ...string) {
	t.Helper()
	const budget, size = 64 << 20, 4 << 27
	s := mountServer(t, source, append(flags, "--cache-size", strconv.Itoa(budget))...)
	name := filepath.Join(s.dir, "volume.raw")
	var group sync.WaitGroup
	for i := range readers {
		group.Go(func() {
			if err := readRandomly(name, size, 320/readers, uint64(i)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n, err := readStart(name, size/2); err != nil || n != size/2 {
		t.Errorf("read %d bytes, %v; want %d", n, err, size/2)
	}
	checkPeak(t, s, budget)
}

// serveSlowly serves the files of a directory late, and returns the URL.
func serveSlowly(t *testing.T, dir string) string {
	t.Helper()
	files := newFileServer(t, dir)
	late := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(late.Close)
	return late.URL
}

// zeros returns a mag of four cubes of 128 MiB of zeros. They are stored without matches, and take little room on the
// disk.
func zeros(t *testing.T, blockType int) string {
	t.Helper()
	const blocks, blockBytes = 1 << 12, 1 << 15
	m := model{blockLog: 5, cubeLog: 4, blockType: blockType, voxelType: 1, channels: 1}
	dir, start, head := t.TempDir(), 16, []byte(nil)
	if blockType == 2 {
		start += 8 * blocks
		head = append(head, 0xF0) // literals: 15, and as many as the next bytes add up to
		head = append(head, bytes.Repeat([]byte{255}, (blockBytes-15)/255)...)
		head = append(head, (blockBytes-15)%255)
	}
	table, stored := m.header(start), len(head)+blockBytes
	for i := range blocks {
		if blockType == 2 {
			table = binary.LittleEndian.AppendUint64(table, uint64(start+(i+1)*stored))
		}
	}
	for _, at := range []string{"y0/x0", "y0/x1", "y1/x0", "y1/x1"} {
		f, err := os.Create(writeFile(t, filepath.Join(dir, "z0", at+".wkw"), nil))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		_, err = f.WriteAt(table, 0)
		for i := range blocks {
			_, headErr := f.WriteAt(head, int64(start+i*stored))
			err = errors.Join(err, headErr)
		}
		if err = errors.Join(err, f.Truncate(int64(start+blocks*stored))); err != nil {
			t.Fatal(err)
		}
	}
	m.writeHeader(t, dir)
	return dir
}

// readRandomly reads 64 KiB at n random offsets of a file.
func readRandomly(name string, size int64, n int, seed uint64) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r, p := rand.New(rand.NewPCG(3, seed)), make([]byte, 1<<16)
	for range n {
		if _, err := f.ReadAt(p, r.Int64N(size-int64(len(p)))); err != nil {
			return err
		}
	}
	return nil
}

// readStart reads the first n bytes of a file. It returns how many there are.
func readStart(name string, n int64) (int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.CopyBuffer(io.Discard, io.LimitReader(f, n), make([]byte, 1<<20))
}

// comparer is a writer that fails if the bytes are not those that are left of want.
type comparer struct{ want []byte }

func (c *comparer) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(c.want, p) {
		return 0, errors.New("not the bytes of the model")
	}
	c.want = c.want[len(p):]
	return len(p), nil
}

// TestMemoryOfSmallBlocks reads random pages in pairs that share their blocks, so that the cache keeps the
// blocks. The blocks are so small that the cache's own records take a large part of the memory. Blocks of less
// than a page are on the garbage collector's heap.
func TestMemoryOfSmallBlocks(t *testing.T) {
	parallelHeavy(t)
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector has memory of its own")
	}
	const cubes = 4
	budget := amount(128, 256) << 20       // the pairs of all readers have as many bytes in their blocks
	for _, blockLog := range []int{3, 4} { // less than a page, and one page
		m := model{blockLog: blockLog, cubeLog: 9 - blockLog, blockType: 1, voxelType: 1, channels: 1} // 128 MiB
		t.Run(m.String(), func(t *testing.T) {
			source := t.TempDir()
			for x := range cubes {
				name := writeFile(t, filepath.Join(source, fmt.Sprintf("z0/y0/x%d.wkw", x)), m.header(16))
				if err := os.Truncate(name, 16+1<<27); err != nil {
					t.Fatal(err)
				}
			}
			m.writeHeader(t, source)
			s := mountServer(t, source, "--cache-size", strconv.Itoa(budget))
			var group sync.WaitGroup
			for i := range 8 {
				group.Go(func() {
					if err := readPairs(filepath.Join(s.dir, fmt.Sprintf("z0/y0/x%d.raw", i%cubes)), uint64(i),
						budget>>18); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			checkPeak(t, s, budget)
		})
	}
}

// readPairs reads n random pairs of pages of a cube of 512³ bytes. The pages of a pair are in neighbouring planes,
// which share their blocks.
func readPairs(name string, seed uint64, n int) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM); err != nil {
		return err
	}
	const page, plane = 4096, 1 << 18
	r, p := rand.New(rand.NewPCG(2, seed)), make([]byte, page)
	for range n {
		off := int64(r.IntN(1<<27/plane/2))*2*plane + int64(r.IntN(plane/page))*page
		for range 2 {
			if _, err := f.ReadAt(p, off); err != nil {
				return err
			}
			off += plane
		}
	}
	return nil
}

// checkPeak checks that a server has never used more memory than the budget of its cache in bytes, plus 128 MiB.
func checkPeak(t testing.TB, s *server, budget int) {
	t.Helper()
	if peak := peakMemory(t, s.pid); peak > budget+memoryAllowed {
		t.Errorf("the server used %d MiB, want at most %d + %d", peak>>20, budget>>20, memoryAllowed>>20)
	} else {
		t.Logf("the server used %d MiB with a cache of %d MiB", peak>>20, budget>>20)
	}
}

// peakMemory returns the largest resident memory that the process ever had, in bytes.
func peakMemory(t testing.TB, pid int) int {
	t.Helper()
	n, ok := memoryOf(pid)
	if !ok {
		t.Fatalf("the memory of process %d is not known", pid)
	}
	return n
}

// memoryOf is peakMemory. It returns false if the process has ended.
func memoryOf(pid int) (int, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	kib := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(b)
	if kib == nil {
		return 0, false
	}
	n, err := strconv.Atoi(string(kib[1]))
	return n << 10, err == nil
}
