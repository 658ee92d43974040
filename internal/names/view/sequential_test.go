package view_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// TestSequentialReads reads files from start to end, in pieces of several sizes and with several cache sizes. The bytes
// are the same as without a cache.
func TestSequentialReads(t *testing.T) {
	dir, plain := newMag(t)
	for _, name := range magFiles {
		f, size := openSized(t, plain, name)
		want := make([]byte, size)
		if _, err := vfs.ReadAt(t.Context(), f, want, 0); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		f.Close()
		for _, budget := range []int64{0, 1 << 20, 4 << 20, 64 << 20} {
			for _, n := range []int64{1000, 4096, 100_000, 1 << 20} {
				t.Run(fmt.Sprintf("%s/%d KiB/%d bytes", name, budget>>10, n), func(t *testing.T) {
					most := uint64(math.MaxUint64)
					if budget == 64<<20 && n == 4096 && name == "volume.raw" {
						most = uint64(8 * size / n / 2) // each piece has bytes of at least 8 blocks
					}
					wantBlockReads(t, most, func() uint64 {
						blocks := cache.New(budget)
						defer blocks.Close()
						readInPieces(t, newTree(t, dir, view.Options{Cache: blocks}), name, n, want)
						return blockReads(blocks)
					})
				})
			}
		}
	}
}

// readInPieces reads a file from start to end, in pieces of n bytes.
func readInPieces(t *testing.T, tree fs.FS, name string, n int64, want []byte) {
	t.Helper()
	f, size := openSized(t, tree, name)
	for off := int64(0); off < size; off += n {
		got, err := readPiece(f, off, n)
		if err != nil || !bytes.Equal(got, want[off:min(off+n, size)]) {
			t.Fatalf("%d bytes at %d: got %d bytes, not the expected ones: %v", n, off, len(got), err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// wantBlockReads calls read, which returns how many blocks it has read from the cache, until that is at most a number.
// While a goroutine that decodes does not run, because other programs have the processors, a sequential reader reads
// from the cache. That does not happen in each of some reads in turn.
func wantBlockReads(t *testing.T, most uint64, read func() uint64) {
	t.Helper()
	var got []uint64
	for len(got) < 5 {
		n := read()
		if n <= most {
			return
		}
		got = append(got, n)
	}
	t.Errorf("%d blocks were read from the cache, expected at most %d", got, most)
}

// TestSequentialReadsOfLargePlanes reads planes that are larger than the pieces.
func TestSequentialReadsOfLargePlanes(t *testing.T) {
	src := voxeltest.Source{Shape: voxeltest.Grid(volume.Vec{700, 600, 40}, volume.Vec{32, 32, 16}, volume.Uint8, 1),
		Absent: map[volume.Vec]bool{{3, 4, 1}: true}}
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := src.Flat(volume.Box{Max: src.Shape.Size})
	for _, n := range []int64{100_000, 420_000, 1 << 20} {
		// Each plane has bytes of 22 × 19 blocks. A reader may read those of 20 planes from the cache.
		wantBlockReads(t, 22*19*20, func() uint64 {
			blocks := cache.New(64 << 20)
			defer blocks.Close()
			readInPieces(t, newCubeTree(openCube{src, info}, blocks), "x0.raw", n, want)
			return blockReads(blocks)
		})
	}
}

// endless is a source of any size. None of its blocks was written.
type endless struct{ openCube }

func (endless) Fill(context.Context, []volume.Block, func(volume.Vec) []byte) {}

// TestSequentialReadsOfHugePlanes reads cubes with slabs that are larger than memory, or than an int64. They are read
// block by block. No memory is reserved afterwards.
func TestSequentialReadsOfHugePlanes(t *testing.T) {
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sizes := []volume.Vec{{1 << 40, 1 << 17, 2}, {1 << 40, 200_000, 2}, {1 << 40, 1 << 20, 3}, {1 << 20, 1 << 40, 2}}
	if testing.Short() {
		sizes = sizes[2:3]
	}
	for _, size := range sizes {
		src := endless{openCube{voxeltest.Source{Shape: voxeltest.Grid(size, volume.Cube(16), volume.Uint16, 1)}, info}}
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
			t.Errorf("%v: memory is still reserved", size)
		}
	}
}

// TestConcurrentReads runs many readers of a few files. Some start in the middle, some are random. There is memory for
// the slabs of a few of them.
func TestConcurrentReads(t *testing.T) {
	dir, plain := newMag(t)
	blocks := cache.New(3 << 20)
	defer blocks.Close()
	tree := newTree(t, dir, view.Options{Cache: blocks})
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 0))
			for range 4 {
				name := magFiles[rnd.IntN(len(magFiles))]
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
						t.Errorf("%s: %d bytes at %d: got %d bytes, %v; expected %d other bytes, %v", name, n, off,
							len(got), err, m, wantErr)
					}
					off += n
				}
				f.Close()
				g.Close()
			}
		})
	}
	group.Wait()
	if !blocks.Reserve(3 << 19) {
		t.Error("memory is still reserved after all files were closed")
	}
}

// TestSequentialReadsOfDamage reads a damaged cube. A sequential reader gets the same errors as a reader of single
// pages.
func TestSequentialReadsOfDamage(t *testing.T) {
	dir, plain := newMag(t)
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
				t.Fatalf("%s: page at %d: got %d bytes, error %v; expected %d, %v", name, off, len(got), err, m,
					wantErr)
			}
			if err != nil {
				bad++
			}
		}
		if bad == 0 {
			t.Errorf("%s: no page failed", name)
		}
		f.Close()
		g.Close()
	}
}
