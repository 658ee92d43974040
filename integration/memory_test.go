package integration

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMemoryStaysInBudget reads a cube that is twice the cache, from many readers at
// once, and holds the server's memory to the cache's budget and 128 MiB.
func TestMemoryStaysInBudget(t *testing.T) {
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector's own memory would be measured")
	}
	m := model{blockLog: 5, cubeLog: 4, blockType: 2, voxelType: 1, channels: 1} // 128 MiB
	source := t.TempDir()
	m.write(t, source, 0, 0, 0)
	t.Run("disk", func(t *testing.T) { memoryStaysInBudget(t, source, m.flat(), 8, 500) })
	t.Run("late", func(t *testing.T) {
		memoryStaysInBudget(t, serveLate(t, source, "-read", "5ms").Dir, m.flat(), 64, 60)
	})
}

// memoryStaysInBudget has so many readers read one cube, each fourth of the first 16 from end to end, the others at so many places.
func memoryStaysInBudget(t *testing.T, source string, want []byte, readers, places int) {
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
				got, err := io.ReadAll(f)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("sequential: %d bytes, not the model's; error %v", len(got), err)
				}
				return
			}
			r := rand.New(rand.NewPCG(1, uint64(i)))
			p := make([]byte, 1<<16)
			for range places {
				off := r.IntN(len(want) - len(p))
				if _, err := f.ReadAt(p, int64(off)); err != nil || !bytes.Equal(p, want[off:off+len(p)]) {
					t.Errorf("random, at %d: not the model's; error %v", off, err)
				}
			}
		})
	}
	group.Wait()
	if peak := peakMemory(t, s.pid); peak > budget+128<<20 {
		t.Errorf("the server used %d MiB, want at most %d + 128", peak>>20, budget>>20)
	} else {
		t.Logf("the server used %d MiB with a cache of %d", peak>>20, budget>>20)
	}
}

// TestMemoryOfSmallBlocks reads pages here and there, two through the same blocks. The blocks are so small that what is known of
// them is a large part of the memory, and those of less than a page are on the garbage collector's heap.
func TestMemoryOfSmallBlocks(t *testing.T) {
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector's own memory would be measured")
	}
	const budget, cubes, page, plane, pairs = 256 << 20, 4, 4096, 1 << 18, 8000
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
					f, err := os.Open(filepath.Join(s.dir, fmt.Sprintf("z0/y0/x%d.raw", i%cubes)))
					if err != nil {
						t.Error(err)
						return
					}
					defer f.Close()
					if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM); err != nil {
						t.Error(err)
					}
					r, p := rand.New(rand.NewPCG(2, uint64(i))), make([]byte, page)
					for range pairs / 8 {
						off := int64(r.IntN(1<<27/plane/2))*2*plane + int64(r.IntN(plane/page))*page
						for range 2 {
							if _, err := f.ReadAt(p, off); err != nil {
								t.Error(err)
								return
							}
							off += plane
						}
					}
				})
			}
			group.Wait()
			if peak := peakMemory(t, s.pid); peak > budget+128<<20 {
				t.Errorf("the server used %d MiB, want at most %d + 128", peak>>20, budget>>20)
			} else {
				t.Logf("the server used %d MiB with a cache of %d", peak>>20, budget>>20)
			}
		})
	}
}

// peakMemory returns the most bytes that the process ever had in memory.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	kib := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(b)
	if kib == nil {
		t.Fatalf("no VmHWM in\n%s", b)
	}
	n, err := strconv.Atoi(string(kib[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
