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
	"github.com/wkwfs/wkwfs/volume"
)

const (
	asked       = 128 << 10 // what the kernel asks for at once
	largePlane  = 4 * asked
	layerBlocks = 32 * 16     // blocks of eight such planes
	pieceBlocks = 32 * 4      // blocks of which a read has bytes
	kept        = 8<<10 + 256 // bytes that a block takes of the budget
)

// planeReader reads planes, or pieces of planes, of a cube of four layers of blocks, and counts loads.
type planeReader struct {
	t      *testing.T
	want   []byte
	blocks *cache.Cache
	tree   fs.FS
	file   fs.File
}

func newPlaneReader(t *testing.T, budget int64) *planeReader {
	t.Helper()
	src := coords{grid: grid(volume.Vec{1024, 512, 32}, volume.Vec{32, 32, 8}, volume.Uint8, 1)}
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &planeReader{t: t, want: naive(src, volume.Box{Max: src.grid.Size}), blocks: cache.New(budget)}
	t.Cleanup(r.blocks.Close)
	r.tree = newCubeTree(openCube{src, info}, r.blocks)
	r.open()
	t.Cleanup(func() { r.file.Close() })
	return r
}

// open closes the file and opens it again.
func (r *planeReader) open() {
	if r.file != nil {
		r.file.Close()
	}
	r.file, _ = openSized(r.t, r.tree, "x0.raw")
}

// read reads n bytes from off on, as the kernel asks for them, and expects so many loads.
func (r *planeReader) read(off, n int64, loads uint64) {
	r.t.Helper()
	before := r.blocks.Stats().Loads
	for at := off; at < off+n; at += asked {
		m := min(off+n-at, asked)
		if got, err := readPiece(r.file, at, m); err != nil || !bytes.Equal(got, r.want[at:at+m]) {
			r.t.Fatalf("%d bytes at %d, not those that are there: %v", len(got), at, err)
		}
	}
	if got := r.blocks.Stats().Loads - before; got != loads {
		r.t.Errorf("%d bytes at %d: %d blocks loaded, expected %d", n, off, got, loads)
	}
}

// plane reads plane z.
func (r *planeReader) plane(z int64, loads uint64) {
	r.t.Helper()
	r.read(z*largePlane, largePlane, loads)
}

// holds expects that so many blocks are kept.
func (r *planeReader) holds(blocks int64) {
	r.t.Helper()
	if got := r.blocks.Stats().HeldBytes; got != blocks*kept {
		r.t.Errorf("%d bytes are held, expected those of %d blocks", got, blocks)
	}
}

// TestPlaneOfEachLayer reads one plane of each layer, with any memory: each of its blocks is loaded once, and none is kept.
func TestPlaneOfEachLayer(t *testing.T) {
	for _, budget := range []int64{0, 1 << 20, 64 << 20} {
		r := newPlaneReader(t, budget)
		for _, z := range []int64{20, 3, 31, 12} {
			r.plane(z, layerBlocks)
			r.holds(0)
		}
	}
}

// blank is a cube of written zeros, of any size.
type blank struct{ openCube }

func (b blank) Fill(_ context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		blocks[i].Voxels = memory(blocks[i].At)
		clear(blocks[i].Voxels)
	}
}

// TestPlanesOfAllSizes reads planes of up to 16 MiB: the memory has room for more blocks, but only those of the planes are loaded.
func TestPlanesOfAllSizes(t *testing.T) {
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []int{256, 1024, 2048, 4096} {
		src := blank{openCube{coords{grid: grid(volume.Vec{side, side, 16}, volume.Vec{128, 32, 2}, volume.Uint8, 1)}, info}}
		blocks := cache.New(256 << 20)
		f, _ := openSized(t, newCubeTree(src, blocks), "x0.raw")
		plane := int64(side * side)
		for i, z := range []int64{13, 3, 7} {
			for off := z * plane; off < (z+1)*plane; off += asked {
				if _, err := readPiece(f, off, min(asked, plane)); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := int(blocks.Stats().Loads), (i+1)*side*side/128/32; got != want {
				t.Errorf("planes of %d bytes: %d blocks loaded for %d, expected %d", plane, got, i+1, want)
			}
		}
		f.Close()
		blocks.Close()
	}
}

// TestPlanesOfOneLayer reads planes of the same layers: those that are asked for again are kept.
func TestPlanesOfOneLayer(t *testing.T) {
	r := newPlaneReader(t, 128<<20)
	r.plane(4, layerBlocks)
	r.plane(12, layerBlocks)
	r.holds(0)
	r.plane(6, layerBlocks)
	r.holds(layerBlocks)
	r.plane(2, 0)
	r.plane(12, layerBlocks)
	r.holds(2 * layerBlocks)
	r.plane(15, 0)
	r.plane(4, 0)
}

// TestPlanesOfFilesOpenedAgain opens the file once more for each plane of a layer.
func TestPlanesOfFilesOpenedAgain(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	for _, loads := range []uint64{layerBlocks, layerBlocks, 0, 0} {
		r.plane(1, loads)
		r.open()
	}
	r.holds(layerBlocks)
}

// TestPiecesOfPlanes reads less than planes: only the blocks of pieces are loaded.
func TestPiecesOfPlanes(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	for _, z := range []int64{4, 12, 20, 28} {
		r.read(z*largePlane+asked, asked, pieceBlocks)
	}
	r.holds(0)
	r.plane(14, layerBlocks)
	r.holds(pieceBlocks)
	r.plane(9, layerBlocks-pieceBlocks)
	r.read(17*largePlane, 2*asked, 2*pieceBlocks)
	r.holds(layerBlocks + pieceBlocks)
}

// TestPlaneAndWhatFollows reads a plane at the end of a layer, and then what the page cache asks for after it: that is not
// kept, and not counted as seen. What a reader asks for that goes on from there is kept at once.
func TestPlaneAndWhatFollows(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	r.plane(7, layerBlocks)
	for range 2 {
		r.read(8*largePlane, asked, pieceBlocks)
	}
	r.holds(0)
	r.open()
	r.read(9*largePlane, asked, pieceBlocks)
	r.holds(0)

	r = newPlaneReader(t, 8<<20) // without room for slabs
	r.plane(15, layerBlocks)
	r.plane(16, layerBlocks)
	r.holds(0)
	r.read(17*largePlane, asked, pieceBlocks)
	r.holds(pieceBlocks)
}

// TestStartIsKept reads from the start of the file on: what most readers do who read all of it.
func TestStartIsKept(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	r.read(0, asked, pieceBlocks)
	r.holds(pieceBlocks)
}

// TestRowsOfPlanes reads some rows of one plane after the other, as a reader of an xz plane does: their blocks are kept at
// the second plane.
func TestRowsOfPlanes(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	r.read(2*largePlane, 4096, 32)
	r.holds(0)
	r.read(3*largePlane, 4096, 32)
	r.holds(32)
	for z := int64(4); z < 32; z++ {
		loads := uint64(0)
		if z%8 == 0 {
			loads = 32
		}
		r.read(z*largePlane, 4096, loads)
	}
	r.holds(4 * 32)
}

// TestTwoReadersOfPlanes has two readers read planes in turn, of one open file: none loads for the other.
func TestTwoReadersOfPlanes(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	for i := range int64(4) {
		r.read(4*largePlane+i*asked, asked, pieceBlocks)
		r.read(20*largePlane+i*asked, asked, pieceBlocks)
	}
	r.holds(0)
}

// TestReadersOfOnePlane has two readers read the same plane at once: blocks are loaded once or twice, and those that were loaded
// twice are kept.
func TestReadersOfOnePlane(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	var group sync.WaitGroup
	for range 2 {
		f, _ := openSized(t, r.tree, "x0.raw")
		group.Go(func() {
			defer f.Close()
			if got, err := readPiece(f, 20*largePlane, largePlane); err != nil || !bytes.Equal(got, r.want[20*largePlane:21*largePlane]) {
				t.Errorf("%d bytes, not those that are there: %v", len(got), err)
			}
		})
	}
	group.Wait()
	loads := int64(r.blocks.Stats().Loads)
	if loads < layerBlocks || loads > 2*layerBlocks {
		t.Errorf("%d blocks loaded, expected %d to %d", loads, layerBlocks, 2*layerBlocks)
	}
	r.holds(loads - layerBlocks)
}

// TestSmallRandomReads reads here and there, no block twice: nothing is loaded that was not asked for, and nothing is kept.
func TestSmallRandomReads(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(4 * 16)[:32] {
		row, layer := int64(i%16), int64(i/16)
		if i > 0 { // the start of the file is kept
			r.read((layer*8+int64(i%8))*largePlane+row*32*1024+4096, 4096, 32)
		}
	}
	if held := r.blocks.Stats().HeldBytes; held > 8*32*kept { // some are a plane apart by chance
		t.Errorf("%d bytes are held", held)
	}
}

// TestLookElsewhere has a reader that goes through the file read a little elsewhere, and return: the slab that it was in is still there.
func TestLookElsewhere(t *testing.T) {
	r := newPlaneReader(t, 64<<20)
	for off := int64(0); off < 12*asked; off += asked {
		if _, err := readPiece(r.file, off, asked); err != nil {
			t.Fatal(err)
		}
	}
	for r.blocks.Stats().Loads < 2*layerBlocks { // two layers are decoded
		if t.Context().Err() != nil {
			t.Fatal("two layers are not decoded")
		}
	}
	r.read(28*largePlane, asked, pieceBlocks)
	r.read(3*largePlane, largePlane, 0)
}
