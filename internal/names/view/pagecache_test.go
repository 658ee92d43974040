package view_test

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// pageCache has the pages of a file that were pushed.
type pageCache struct {
	mu    sync.Mutex
	pages map[int64][]byte // by offset
	t     *testing.T
}

const page = 4096

func (c *pageCache) push(p []byte, off int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if off%page != 0 || len(p)%page != 0 || len(p) == 0 {
		c.t.Errorf("%d bytes pushed at %d: not whole pages", len(p), off)
	}
	for i := 0; i < len(p); i += page {
		c.pages[off+int64(i)] = bytes.Clone(p[i : i+page])
	}
	return true
}

// find returns the page at off. If the page is missing, it returns the length of the gap from off on, up to n bytes.
func (c *pageCache) find(off, n int64) (found []byte, missing int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found = c.pages[off]; found != nil {
		return found, 0
	}
	for missing < n && c.pages[off+missing] == nil {
		missing += page
	}
	return nil, missing
}

// TestSequentialReadsThroughPageCache reads files like a kernel: it does not read pages that were pushed. The slabs are
// larger than the memory. Yet most blocks are loaded once.
func TestSequentialReadsThroughPageCache(t *testing.T) {
	for _, c := range []struct {
		size   volume.Vec
		name   string
		budget int64
		most   float64 // loads per block
	}{
		// The first plane is read before the reader counts as sequential, so its slab is loaded twice. A busy machine
		// may push late. Without the page cache, there would be 16 loads.
		{volume.Vec{1024, 256, 64}, "x0.raw", 9 << 17, 2},
		{volume.Vec{1024, 300, 48}, "x0.raw", 2 << 20, 2},
		{volume.Vec{1000, 250, 64}, "x0.raw", 2 << 20, 2},
		{volume.Vec{777, 255, 33}, "x0.raw", 3 << 20, 2},
		{volume.Vec{64, 64, 64}, "x0.raw", 64 << 10, 40}, // no memory for a slab
		{volume.Vec{1024, 300, 70}, "x0.raw", 64 << 20, 1.1},
	} {
		if testing.Short() && c.budget > 2<<20 {
			continue
		}
		t.Run(fmt.Sprintf("%v, %d KiB", c.size, c.budget>>10), func(t *testing.T) {
			src := voxeltest.Source{Shape: voxeltest.Grid(c.size, volume.Vec{16, 16, 16}, volume.Uint8, 1),
				Absent: map[volume.Vec]bool{{3, 4, 1}: true}}
			info, err := os.Stat(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			blocks := cache.New(c.budget)
			defer blocks.Close()
			tree := newCubeTree(openCube{src, info}, blocks)
			f, size := openSized(t, tree, c.name)
			cached := &pageCache{pages: map[int64][]byte{}, t: t}
			f.(vfs.Pusher).Push(vfs.Sink{All: true, Page: page, Piece: 256 << 10, Ahead: 512 << 10, Write: cached.push})
			want := src.Flat(volume.Box{Max: c.size})
			for off := int64(0); off < size; {
				got, missing := cached.find(off, 16*page)
				if missing > 0 {
					if got, err = readPiece(f, off, missing); err != nil {
						t.Fatal(err)
					}
				}
				end := min(off+int64(len(got)), size)
				if len(got) == 0 || !bytes.Equal(got[:end-off], want[off:end]) {
					t.Fatalf("%d bytes at %d, from the page cache: %v: not the expected bytes", len(got), off,
						missing == 0)
				}
				off = end
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			whole := src.Shape.Blocks()
			perBlock := float64(blocks.Stats().Loads) / float64(whole[0]*whole[1]*whole[2])
			if t.Logf("%.2f loads per block", perBlock); perBlock > c.most {
				t.Errorf("%.2f loads per block, expected at most %v", perBlock, c.most)
			}
		})
	}
}

// TestSequentialReaderReturns reads files through the page cache, in reads that may cross the end of a slab. The reader
// sometimes reads a page elsewhere, and then counts as sequential again. Most blocks are loaded once.
func TestSequentialReaderReturns(t *testing.T) {
	size := volume.Vec{1024, 256, 128}
	src := voxeltest.Source{Shape: voxeltest.Grid(size, volume.Cube(16), volume.Uint8, 1)}
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := src.Flat(volume.Box{Max: size})
	for _, c := range []struct {
		read int64   // bytes of a read
		away []int64 // offsets at which the reader reads elsewhere
		most float64 // loads per block
	}{
		{64 << 10, nil, 2},
		{192 << 10, nil, 2},
		{256 << 10, nil, 2},
		{64 << 10, []int64{5 << 20, 20 << 20}, 3.5},
		{192 << 10, []int64{9 << 20}, 3.5},
	} {
		if testing.Short() && c.read == 192<<10 {
			continue
		}
		t.Run(fmt.Sprintf("%d KiB, elsewhere at %v", c.read>>10, c.away), func(t *testing.T) {
			blocks := cache.New(9 << 17)
			defer blocks.Close()
			tree := newCubeTree(openCube{src, info}, blocks)
			f, _ := openSized(t, tree, "x0.raw")
			defer f.Close()
			cached := &pageCache{pages: map[int64][]byte{}, t: t}
			f.(vfs.Pusher).Push(vfs.Sink{All: true, Page: page, Piece: 256 << 10, Ahead: 512 << 10, Write: cached.push})
			away := c.away
			for off := int64(0); off < int64(len(want)); {
				if len(away) > 0 && off >= away[0] {
					away = away[1:]
					if _, err := readPiece(f, off^16<<20^8<<20, 4096); err != nil {
						t.Fatal(err)
					}
				}
				got, missing := cached.find(off, c.read)
				// the page may be in flight, except in the first plane
				for wait := 0; missing > 0 && off%(4<<20) >= 256<<10 && wait < 20; wait++ {
					time.Sleep(time.Millisecond)
					got, missing = cached.find(off, c.read)
				}
				if missing > 0 {
					if got, err = readPiece(f, off, missing); err != nil {
						t.Fatal(err)
					}
				}
				if len(got) == 0 || !bytes.Equal(got, want[off:off+int64(len(got))]) {
					t.Fatalf("%d bytes at %d: not those that are there", len(got), off)
				}
				off += int64(len(got))
			}
			whole := src.Shape.Blocks()
			perBlock := float64(blocks.Stats().Loads) / float64(whole[0]*whole[1]*whole[2])
			if t.Logf("%.2f loads per block", perBlock); perBlock > c.most {
				t.Errorf("%.2f loads per block, expected at most %v", perBlock, c.most)
			}
		})
	}
}
