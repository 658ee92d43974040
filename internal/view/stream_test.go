package view_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/store"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/internal/view"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// streamed are files of the mag that newStreamed writes.
var streamed = []string{
	"z0/y0/x0.raw", "z1/y0/x1.raw", "volume.raw", "volume.npy", "volume.tif", "box/3-101_17-64_-5-90.raw",
	"box/-9-20_30-31_0-128.nii", "slices/z0000020.tif",
}

// newStreamed writes a mag of 2×1×2 cubes of 64³ voxels, in blocks of 16³. Cube 0,0,1 is not
// there. It returns the tree without a cache, and what to make others of.
func newStreamed(t *testing.T) (dir string, plain fs.FS) {
	t.Helper()
	dir = t.TempDir()
	for _, c := range []volume.Vec{{0, 0, 0}, {1, 0, 0}, {1, 0, 1}} {
		path := filepath.Join(dir, fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0]))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		src := coords{grid: grid(volume.Cube(64), volume.Cube(16), volume.Uint16, 1)}
		if err := wkw.WriteCube(context.Background(), path, wkw.LZ4, src); err != nil {
			t.Fatal(err)
		}
	}
	return dir, newTree(t, dir, view.Options{})
}

// newTree shows the mag in dir.
func newTree(t *testing.T, dir string, o view.Options) fs.FS {
	t.Helper()
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	root, err := wkw.Recognise(fsys, ".", wkw.Options{Name: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return view.New(root, o)
}

// readPiece reads n bytes of a file, or what is left of it.
func readPiece(f fs.File, off, n int64) ([]byte, error) {
	b := make([]byte, n)
	got, err := vfs.ReadAt(context.Background(), f, b, off)
	if err == io.EOF {
		err = nil
	}
	return b[:got], err
}

// wanted returns how many blocks the cache was asked for, one by one: those that streams decode are
// not among them, once they have begun.
func wanted(c *cache.Cache) uint64 {
	s := c.Stats()
	return s.Hits + s.Shared
}

func openSized(t *testing.T, tree fs.FS, name string) (fs.File, int64) {
	t.Helper()
	f, err := tree.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return f, info.Size()
}

// TestStreams reads files from start to end, in pieces of many sizes, with all kinds of
// memory; what comes is what comes without any.
func TestStreams(t *testing.T) {
	dir, plain := newStreamed(t)
	for _, name := range streamed {
		f, size := openSized(t, plain, name)
		want := make([]byte, size)
		if _, err := vfs.ReadAt(t.Context(), f, want, 0); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		f.Close()
		for _, budget := range []int64{0, 1 << 20, 4 << 20, 64 << 20} {
			for _, n := range []int64{1000, 4096, 100_000, 1 << 20} {
				t.Run(fmt.Sprintf("%s/%d KiB/%d bytes", name, budget>>10, n), func(t *testing.T) {
					blocks := cache.New(budget)
					defer blocks.Close()
					f, size := openSized(t, newTree(t, dir, view.Options{Cache: blocks}), name)
					for off := int64(0); off < size; off += n {
						got, err := readPiece(f, off, n)
						if err != nil || !bytes.Equal(got, want[off:min(off+n, size)]) {
							t.Fatalf("%d bytes at %d: %d bytes, not those that are there: %v", n, off, len(got), err)
						}
					}
					// Each piece has bytes of 8 blocks at least.
					if most := uint64(8 * size / n / 2); budget == 64<<20 && n == 4096 && name == "volume.raw" && wanted(blocks) > most {
						t.Errorf("%d blocks were wanted of the cache, expected at most %d", wanted(blocks), most)
					}
					if err := f.Close(); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// openCube is a cube file that is nowhere but in memory.
type openCube struct {
	coords
	info fs.FileInfo
}

func (c openCube) Version() vfs.Version { return vfs.Version{1} }
func (c openCube) Info() fs.FileInfo    { return c.info }
func (c openCube) Close() error         { return nil }

// newCubeTree shows the cube as x0.raw, with its blocks in the cache.
func newCubeTree(cube volume.CubeFile, blocks *cache.Cache) fs.FS {
	return view.New(volume.Root{Cube: &volume.SingleCube{
		Name: "x0", Grid: cube.Grid(),
		Stat: func() (fs.FileInfo, error) { return cube.Info(), nil },
		Open: func() (volume.CubeFile, error) { return cube, nil },
	}}, view.Options{Cache: blocks})
}

// TestStreamsOfLargePlanes reads planes so large that pieces have a part of them.
func TestStreamsOfLargePlanes(t *testing.T) {
	src := coords{grid: grid(volume.Vec{700, 600, 40}, volume.Vec{32, 32, 16}, volume.Uint8, 1), absent: map[volume.Vec]bool{{3, 4, 1}: true}}
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	blocks := cache.New(64 << 20)
	defer blocks.Close()
	tree := newCubeTree(openCube{src, info}, blocks)
	want := naive(src, volume.Box{Max: src.grid.Size})
	for _, n := range []int64{100_000, 420_000, 1 << 20} {
		f, size := openSized(t, tree, "x0.raw")
		before := wanted(blocks)
		for off := int64(0); off < size; off += n {
			got, err := readPiece(f, off, n)
			if err != nil || !bytes.Equal(got, want[off:min(off+n, size)]) {
				t.Fatalf("%d bytes at %d: %d bytes, not those that are there: %v", n, off, len(got), err)
			}
		}
		// Each plane has bytes of 22 × 19 blocks.
		if got := wanted(blocks) - before; got > 22*19*20 {
			t.Errorf("in pieces of %d bytes, %d blocks were wanted of the cache, expected those of 20 planes at most", n, got)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// endless is a source of any size, whose blocks were never written.
type endless struct{ openCube }

func (endless) Fill(context.Context, []volume.Block, func(volume.Vec) []byte) {}

// TestStreamsOfHugePlanes reads boxes of which one layer of blocks is more than there is memory,
// and more than numbers hold: they are read block by block, and memory for others is left.
func TestStreamsOfHugePlanes(t *testing.T) {
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []volume.Vec{{1 << 40, 1 << 17, 2}, {1 << 40, 200_000, 2}, {1 << 40, 1 << 20, 3}, {1 << 20, 1 << 40, 2}} {
		src := endless{openCube{coords{grid: grid(size, volume.Cube(16), volume.Uint16, 1)}, info}}
		blocks := cache.New(64 << 20)
		defer blocks.Close()
		tree := newCubeTree(src, blocks)
		f, _ := openSized(t, tree, "x0.raw")
		for off := int64(0); off < 5<<20; off += 1 << 17 {
			if got, err := readPiece(f, off, 1<<17); err != nil || !bytes.Equal(got, make([]byte, 1<<17)) {
				t.Fatalf("%v: %d bytes at %d, %v", size, len(got), off, err)
			}
		}
		f.Close()
		if !blocks.Reserve(32 << 20) {
			t.Errorf("%v: memory is gone", size)
		}
	}
}

// pageCache is what a kernel keeps of a file: pages that were read or offered.
type pageCache struct {
	mu    sync.Mutex
	pages map[int64][]byte // by offset
	t     *testing.T
}

const page = 4096

func (c *pageCache) take(p []byte, off int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if off%page != 0 || len(p)%page != 0 || len(p) == 0 {
		c.t.Errorf("%d bytes offered at %d: not whole pages", len(p), off)
	}
	for i := 0; i < len(p); i += page {
		c.pages[off+int64(i)] = bytes.Clone(p[i : i+page])
	}
	return true
}

// find returns the page at off, and if it is not there how much is missing from there on, n
// bytes at most.
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

// TestStreamsThroughThePageCache reads files whose slabs are larger than the memory, the way
// a kernel does: what was offered is not asked for. No block is loaded much more than once.
func TestStreamsThroughThePageCache(t *testing.T) {
	for _, c := range []struct {
		size   volume.Vec
		name   string
		budget int64
		most   float64 // loads of a block
	}{
		// The first plane is read before it is known that the others will be, so that its layer
		// is loaded twice, and a machine may be slow to take what is offered. Without the page
		// cache it would be 16 loads.
		{volume.Vec{1024, 256, 64}, "x0.raw", 9 << 17, 2},
		{volume.Vec{1024, 300, 48}, "x0.raw", 2 << 20, 2},
		{volume.Vec{1000, 250, 64}, "x0.raw", 2 << 20, 2},
		{volume.Vec{777, 255, 33}, "x0.raw", 3 << 20, 2},
		{volume.Vec{64, 64, 64}, "x0.raw", 64 << 10, 40}, // no room for anything
		{volume.Vec{1024, 300, 70}, "x0.raw", 64 << 20, 1.1},
	} {
		t.Run(fmt.Sprintf("%v, %d KiB", c.size, c.budget>>10), func(t *testing.T) {
			src := coords{grid: grid(c.size, volume.Vec{16, 16, 16}, volume.Uint8, 1), absent: map[volume.Vec]bool{{3, 4, 1}: true}}
			info, err := os.Stat(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			blocks := cache.New(c.budget)
			defer blocks.Close()
			tree := newCubeTree(openCube{src, info}, blocks)
			f, size := openSized(t, tree, c.name)
			cached := &pageCache{pages: map[int64][]byte{}, t: t}
			f.(vfs.Pusher).Push(vfs.Sink{All: true, Page: page, Piece: 256 << 10, Ahead: 512 << 10, Write: cached.take})
			want := naive(src, volume.Box{Max: c.size})
			for off := int64(0); off < size; {
				got, missing := cached.find(off, 16*page)
				if missing > 0 {
					if got, err = readPiece(f, off, missing); err != nil {
						t.Fatal(err)
					}
				}
				end := min(off+int64(len(got)), size)
				if len(got) == 0 || !bytes.Equal(got[:end-off], want[off:end]) {
					t.Fatalf("%d bytes at %d, of the page cache: %v: not those that are there", len(got), off, missing == 0)
				}
				off = end
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			whole := src.grid.Blocks()
			perBlock := float64(blocks.Stats().Loads) / float64(whole[0]*whole[1]*whole[2])
			if t.Logf("%.2f loads of a block", perBlock); perBlock > c.most {
				t.Errorf("%.2f loads of a block, expected at most %v", perBlock, c.most)
			}
		})
	}
}

// TestStreamsComeBack reads files through the page cache, in reads so long that one goes over the last slabs of a plane,
// by a reader who leaves his way, here and there, for a while. Each time he is again known to go on, and most blocks are
// loaded once.
func TestStreamsComeBack(t *testing.T) {
	size := volume.Vec{1024, 256, 128}
	src := coords{grid: grid(size, volume.Cube(16), volume.Uint8, 1)}
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := naive(src, volume.Box{Max: size})
	for _, c := range []struct {
		read int64   // bytes of a read
		away []int64 // where he is when he leaves
		most float64 // loads of a block
	}{
		{64 << 10, nil, 2},
		{192 << 10, nil, 2},
		{256 << 10, nil, 2},
		{64 << 10, []int64{5 << 20, 20 << 20}, 3.5},
		{192 << 10, []int64{9 << 20}, 3.5},
	} {
		t.Run(fmt.Sprintf("%d KiB, away at %v", c.read>>10, c.away), func(t *testing.T) {
			blocks := cache.New(9 << 17)
			defer blocks.Close()
			tree := newCubeTree(openCube{src, info}, blocks)
			f, _ := openSized(t, tree, "x0.raw")
			defer f.Close()
			cached := &pageCache{pages: map[int64][]byte{}, t: t}
			f.(vfs.Pusher).Push(vfs.Sink{All: true, Page: page, Piece: 256 << 10, Ahead: 512 << 10, Write: cached.take})
			away := c.away
			for off := int64(0); off < int64(len(want)); {
				if len(away) > 0 && off >= away[0] {
					away = away[1:]
					if _, err := readPiece(f, off^16<<20^8<<20, 4096); err != nil {
						t.Fatal(err)
					}
				}
				got, missing := cached.find(off, c.read)
				for wait := 0; missing > 0 && off%(4<<20) >= 256<<10 && wait < 20; wait++ { // not of the first plane: it may be on its way
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
			whole := src.grid.Blocks()
			perBlock := float64(blocks.Stats().Loads) / float64(whole[0]*whole[1]*whole[2])
			if t.Logf("%.2f loads of a block", perBlock); perBlock > c.most {
				t.Errorf("%.2f loads of a block, expected at most %v", perBlock, c.most)
			}
		})
	}
}

// TestStreamsTogether has many readers go through the same and other files at once, some
// from the middle, some picking, with memory for few of them.
func TestStreamsTogether(t *testing.T) {
	dir, plain := newStreamed(t)
	blocks := cache.New(3 << 20)
	defer blocks.Close()
	tree := newTree(t, dir, view.Options{Cache: blocks})
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 0))
			for range 4 {
				name := streamed[rnd.IntN(len(streamed))]
				f, size := openSized(t, tree, name)
				g, _ := openSized(t, plain, name)
				want := make([]byte, 40_000)
				off := rnd.Int64N(size)
				for range 40 {
					if off >= size || i%4 == 3 {
						off = rnd.Int64N(size)
					}
					n := 1 + rnd.Int64N(int64(len(want)))
					got, err := readPiece(f, off, n)
					m, wantErr := vfs.ReadAt(context.Background(), g, want[:n], off)
					if !bytes.Equal(got, want[:m]) || err != nil || wantErr != nil && wantErr != io.EOF {
						t.Errorf("%s: %d bytes at %d: %d bytes, %v; expected %d other ones, %v", name, n, off, len(got), err, m, wantErr)
					}
					off += n
				}
				f.Close()
				g.Close()
			}
		})
	}
	group.Wait()
	// All that was reserved is given back.
	if !blocks.Reserve(3 << 19) {
		t.Error("memory is still reserved after all files were closed")
	}
}

// TestStreamsWithDamage holds that a reader who goes through a file meets the errors that
// one meets who picks each page, and no others.
func TestStreamsWithDamage(t *testing.T) {
	dir, plain := newStreamed(t)
	path := filepath.Join(dir, "z0/y0/x1.wkw")
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(stored) / 3; i < len(stored)/3+100; i++ {
		stored[i] ^= 0x5A
	}
	if err := os.WriteFile(path, stored, 0o644); err != nil {
		t.Fatal(err)
	}
	blocks := cache.New(64 << 20)
	defer blocks.Close()
	for _, name := range []string{"volume.raw", "box/3-101_17-64_-5-90.raw"} {
		f, size := openSized(t, newTree(t, dir, view.Options{Cache: blocks}), name)
		g, _ := openSized(t, plain, name)
		bad := 0
		want := make([]byte, page)
		for off := int64(0); off < size; off += page {
			got, err := readPiece(f, off, page)
			m, wantErr := vfs.ReadAt(t.Context(), g, want, off)
			if wantErr == io.EOF {
				wantErr = nil
			}
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || !bytes.Equal(got, want[:m]) {
				t.Fatalf("%s: page at %d: %d bytes, error %v; expected %d, %v", name, off, len(got), err, m, wantErr)
			}
			if err != nil {
				bad++
			}
		}
		if bad == 0 {
			t.Errorf("%s: no bad page", name)
		}
		f.Close()
		g.Close()
	}
}
