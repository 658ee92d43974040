package view_test

import (
	"bytes"
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

const (
	request     = 128 << 10   // largest read request of the kernel, in bytes
	largePlane  = 4 * request // bytes
	slabBlocks  = 32 * 16     // blocks of a slab, which is eight planes
	pieceBlocks = 32 * 4      // blocks that a request needs
	blockCost   = 8<<10 + 256 // bytes of the budget for a cached block
)

// planeReader reads planes, or pieces of planes, of a cube of four slabs, and counts loads.
type planeReader struct {
	t      *testing.T
	want   []byte
	blocks *cache.Cache
	tree   fs.FS
	file   fs.File
}

func newPlaneReader(t *testing.T, budget int64) *planeReader {
	t.Helper()
	src := voxeltest.Source{Shape: voxeltest.Grid(volume.Vec{1024, 512, 32}, volume.Vec{32, 32, 8}, volume.Uint8, 1)}
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &planeReader{t: t, want: src.Flat(volume.Box{Max: src.Shape.Size}), blocks: cache.New(budget)}
	t.Cleanup(r.blocks.Close)
	r.tree = newCubeTree(openCube{src, info}, r.blocks)
	r.open()
	t.Cleanup(func() { r.file.Close() })
	return r
}

// open opens the file, or opens it again.
func (r *planeReader) open() {
	if r.file != nil {
		r.file.Close()
	}
	r.file, _ = openSized(r.t, r.tree, "x0.raw")
}

// read reads n bytes at off, in requests of the kernel's size. It checks the number of loads.
func (r *planeReader) read(off, n int64, loads uint64) {
	r.t.Helper()
	before := r.blocks.Stats().Loads
	for at := off; at < off+n; at += request {
		m := min(off+n-at, request)
		if got, err := readPiece(r.file, at, m); err != nil || !bytes.Equal(got, r.want[at:at+m]) {
			r.t.Fatalf("got %d bytes at %d, not the expected ones: %v", len(got), at, err)
		}
	}
	if got := r.blocks.Stats().Loads - before; got != loads {
		r.t.Errorf("%d bytes at %d: %d blocks loaded, expected %d", n, off, got, loads)
	}
}

// plane reads plane z. It checks the number of loads.
func (r *planeReader) plane(z int64, loads uint64) {
	r.t.Helper()
	r.read(z*largePlane, largePlane, loads)
}

// headBlocks is the number of blocks for which the reader reserves memory while it reads a plane: those of the first
// request, and two rows.
const headBlocks = pieceBlocks + 2*32

// expectCached checks the number of blocks in the cache. The reader may also have reserved memory for the first blocks
// of its plane.
func (r *planeReader) expectCached(blocks int64) {
	r.t.Helper()
	if got := r.blocks.Stats().HeldBytes; got != blocks*blockCost && got != (blocks+headBlocks)*blockCost {
		r.t.Errorf("the cache has %d bytes, expected those of %d blocks", got, blocks)
	}
}

// TestPlaneOfEachSlab reads one plane of each slab, with several cache sizes. Each block is loaded once. None stays
// cached.
func TestPlaneOfEachSlab(t *testing.T) {
	for _, budget := range []int64{0, 1 << 20, 64 << 20} {
		r := newPlaneReader(t, budget)
		for _, z := range []int64{20, 3, 31, 12} {
			r.plane(z, slabBlocks)
			r.expectCached(0)
		}
	}
}

// zeros is a cube of any size whose blocks are stored zeros.
type zeros struct{ openCube }

func (zeros) Fill(_ context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		blocks[i].Voxels = memory(blocks[i].At)
		clear(blocks[i].Voxels)
	}
}

// TestPlanesOfAllSizes reads planes of up to 16 MiB. Only the blocks of the planes are loaded.
func TestPlanesOfAllSizes(t *testing.T) {
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []int{256, 1024, 2048, 4096} {
		src := zeros{openCube{voxeltest.Source{Shape: voxeltest.Grid(volume.Vec{side, side, 16}, volume.Vec{128, 32, 2},
			volume.Uint8, 1)}, info}}
		blocks := cache.New(256 << 20)
		f, _ := openSized(t, newCubeTree(src, blocks), "x0.raw")
		plane := int64(side * side)
		for i, z := range []int64{13, 3, 7} {
			for off := z * plane; off < (z+1)*plane; off += request {
				if _, err := readPiece(f, off, min(request, plane)); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := int(blocks.Stats().Loads), (i+1)*side*side/128/32; got != want {
				t.Errorf("planes of %d bytes: %d blocks loaded for %d planes, expected %d", plane, got, i+1, want)
			}
		}
		f.Close()
		blocks.Close()
	}
}

// TestPlanesOfOneSlab reads several planes of the same slabs. Blocks that are read again stay cached.
func TestPlanesOfOneSlab(t *testing.T) {
	r := newPlaneReader(t, 128<<20)
	r.plane(4, slabBlocks)
	r.plane(12, slabBlocks)
	r.expectCached(0)
	r.plane(6, slabBlocks)
	r.expectCached(slabBlocks)
	r.plane(2, 0)
	r.plane(12, slabBlocks)
	r.expectCached(2 * slabBlocks)
	r.plane(15, 0)
	r.plane(4, 0)
}

// TestPlanesOfReopenedFile opens the file again for each plane of a slab.
func TestPlanesOfReopenedFile(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	for _, loads := range []uint64{slabBlocks, slabBlocks, 0, 0} {
		r.plane(1, loads)
		r.open()
	}
	r.expectCached(slabBlocks)
}

// TestPiecesOfPlanes reads pieces of planes. Only the blocks of the pieces are loaded.
func TestPiecesOfPlanes(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	for _, z := range []int64{4, 12, 20, 28} {
		r.read(z*largePlane+request, request, pieceBlocks)
	}
	r.expectCached(0)
	r.plane(14, slabBlocks)
	r.expectCached(pieceBlocks)
	r.plane(9, slabBlocks-pieceBlocks)
	r.read(17*largePlane, 2*request, 2*pieceBlocks)
	r.expectCached(slabBlocks + pieceBlocks)
}

// TestReadaheadAfterPlane reads a plane at the end of a slab, and then the request that the kernel's readahead sends
// after it. Its blocks are not cached, and do not count as read. If the reader continues, the next blocks are cached at
// once.
func TestReadaheadAfterPlane(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	r.plane(7, slabBlocks)
	for range 2 {
		r.read(8*largePlane, request, pieceBlocks)
	}
	r.expectCached(0)
	r.open()
	r.read(9*largePlane, request, pieceBlocks)
	r.expectCached(0)

	r = newPlaneReader(t, 8<<20) // no memory for slabs
	r.plane(15, slabBlocks)
	r.plane(16, slabBlocks)
	r.expectCached(0)
	r.read(17*largePlane, request, pieceBlocks)
	r.expectCached(pieceBlocks)
}

// TestStartIsCached reads the start of the file. Its blocks stay cached, because most such readers continue.
func TestStartIsCached(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	r.read(0, request, pieceBlocks)
	r.expectCached(pieceBlocks)
}

// TestRowsOfPlanes reads some rows of each plane, like a reader of an xz plane. From the second plane on, blocks stay
// cached.
func TestRowsOfPlanes(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	r.read(2*largePlane, 4096, 32)
	r.expectCached(0)
	r.read(3*largePlane, 4096, 32)
	r.expectCached(32)
	for z := int64(4); z < 32; z++ {
		loads := uint64(0)
		if z%8 == 0 {
			loads = 32
		}
		r.read(z*largePlane, 4096, loads)
	}
	r.expectCached(4 * 32)
}

// TestTwoReadersOfPlanes reads two planes of one open file in turns. No block is loaded twice.
func TestTwoReadersOfPlanes(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	for i := range int64(4) {
		r.read(4*largePlane+i*request, request, pieceBlocks)
		r.read(20*largePlane+i*request, request, pieceBlocks)
	}
	r.expectCached(0)
}

// TestReadersOfOnePlane reads a plane twice at the same time. Blocks that were loaded twice stay cached.
func TestReadersOfOnePlane(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	var group sync.WaitGroup
	for range 2 {
		f, _ := openSized(t, r.tree, "x0.raw")
		group.Go(func() {
			defer f.Close()
			if got, err := readPiece(f, 20*largePlane, largePlane); err != nil ||
				!bytes.Equal(got, r.want[20*largePlane:21*largePlane]) {
				t.Errorf("got %d bytes, not the expected ones: %v", len(got), err)
			}
		})
	}
	group.Wait()
	loads := int64(r.blocks.Stats().Loads)
	if loads < slabBlocks || loads > 2*slabBlocks {
		t.Errorf("%d blocks loaded, expected %d to %d", loads, slabBlocks, 2*slabBlocks)
	}
	r.expectCached(loads - slabBlocks)
}

// TestSmallRandomReads reads at random offsets, no block twice. Only the blocks of the reads are loaded, and few stay
// cached.
func TestSmallRandomReads(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(4 * 16)[:32] {
		row, layer := int64(i%16), int64(i/16)
		if i > 0 { // blocks of the start stay cached
			r.read((layer*8+int64(i%8))*largePlane+row*32*1024+4096, 4096, 32)
		}
	}
	if held := r.blocks.Stats().HeldBytes; held > 8*32*blockCost { // some reads are a plane apart by chance
		t.Errorf("the cache has %d bytes", held)
	}
}

// TestShortReadElsewhere reads sequentially, then a piece elsewhere, and returns. The slab is still decoded.
func TestShortReadElsewhere(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	for off := int64(0); off < 12*request; off += request {
		if _, err := readPiece(r.file, off, request); err != nil {
			t.Fatal(err)
		}
	}
	for r.blocks.Stats().Loads < 2*slabBlocks { // two slabs are decoded
		if t.Context().Err() != nil {
			t.Fatal("two slabs are not decoded")
		}
	}
	r.read(28*largePlane, request, pieceBlocks)
	r.read(3*largePlane, largePlane, 0)
}
