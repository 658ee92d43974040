package view_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

const (
	asked       = 128 << 10 // what the kernel asks for at once
	largePlane  = 4 * asked // bytes of a plane that is worth a guess
	layerBlocks = 32 * 16   // blocks of eight such planes
	pieceBlocks = 32 * 4    // blocks of which a reply has bytes
)

// scanned is a cube whose blocks can be had without their being kept.
type scanned struct{ openCube }

func (s scanned) Scan(ctx context.Context, blocks volume.Box, memory func(b volume.Vec) []byte) error {
	for b := range blocks.All() {
		block, err := s.Block(ctx, b)
		if err != nil {
			return err
		}
		copy(memory(b), block)
	}
	return nil
}

// picker reads planes, or pieces of planes, of a cube of four layers of blocks.
type picker struct {
	t      *testing.T
	cube   scanned
	want   []byte
	blocks *cache.Cache
	tree   fs.FS
	file   fs.File
	pushed *pageCache
	loads  uint64
}

func newPicker(t *testing.T, budget int64) *picker {
	t.Helper()
	src := coords{grid: grid(volume.Vec{1024, 512, 32}, volume.Vec{32, 32, 8}, volume.Uint8, 1)}
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &picker{t: t, cube: scanned{openCube{src, info}}, want: naive(src, volume.Box{Max: src.grid.Size}), blocks: cache.New(budget)}
	t.Cleanup(p.blocks.Close)
	p.tree = newCubeTree(p.cube, p.blocks)
	p.open()
	t.Cleanup(func() { p.file.Close() })
	return p
}

// open opens the cube once more, with a page cache of its own.
func (p *picker) open() {
	if p.file != nil {
		p.file.Close()
	}
	p.file, _ = openSized(p.t, p.tree, "x0.raw")
	p.pushed = &pageCache{pages: map[int64][]byte{}, t: p.t}
	p.file.(vfs.Offerer).Offer(true, p.pushed.take)
}

// read reads so many replies from a place on, and expects that many blocks were loaded for them.
func (p *picker) read(off int64, replies int, loads uint64) {
	p.t.Helper()
	p.goOn(off, off+int64(replies)*asked)
	before := p.loads
	if p.loads = p.blocks.Stats().Loads; p.loads-before != loads {
		p.t.Errorf("%d replies from %d on: %d blocks loaded, expected %d", replies, off, p.loads-before, loads)
	}
}

// goOn reads from one place to another, whatever is loaded for it.
func (p *picker) goOn(from, to int64) {
	p.t.Helper()
	for off := from; off < to; off += asked {
		if got, err := readPiece(p.file, off, asked); err != nil || !bytes.Equal(got, p.want[off:off+asked]) {
			p.t.Fatalf("%d bytes at %d, not those that are there: %v", len(got), off, err)
		}
	}
}

// until waits for something that is done without a reader.
func (p *picker) until(what string, done func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: not so after a minute", what)
		}
	}
}

// TestPlanesByThemselves reads planes, each in another layer: their blocks are decoded at once, but no others, and what they
// have besides goes nowhere.
func TestPlanesByThemselves(t *testing.T) {
	p := newPicker(t, 64<<20)
	for _, z := range []int64{20, 3, 31, 12} {
		p.read(z*largePlane, 1, layerBlocks)
		p.read(z*largePlane+asked, 3, 0)
	}
	p.file.Close() // waits for what is under way
	p.pushed.mu.Lock()
	defer p.pushed.mu.Unlock()
	if n := len(p.pushed.pages); n > 0 {
		t.Errorf("%d pages were pushed, which nobody wants", n)
	}
}

// TestPlanesOfOneLayer reads planes of layers again: once more their blocks are decoded, and then kept.
func TestPlanesOfOneLayer(t *testing.T) {
	p := newPicker(t, 64<<20)
	p.read(4*largePlane, 4, layerBlocks)
	p.read(12*largePlane, 4, layerBlocks)
	p.read(6*largePlane, 4, 0) // the slab is still there
	p.read(20*largePlane, 4, layerBlocks)
	p.read(13*largePlane, 4, 0) // as is this one
	p.read(1*largePlane, 4, layerBlocks)
	p.read(2*largePlane, 4, 0)
}

// TestPlanesOfFilesOpenedAgain is the same where each plane is read by somebody else.
func TestPlanesOfFilesOpenedAgain(t *testing.T) {
	p := newPicker(t, 64<<20)
	for _, loads := range []uint64{layerBlocks, layerBlocks, 0, 0} {
		p.read(4*largePlane, 4, loads)
		p.open()
	}
	p.read(12*largePlane, 1, layerBlocks) // not a plane, as is seen when it is closed
	p.open()
	p.read(20*largePlane, 1, pieceBlocks)
}

// TestPlaneAndWhatFollows reads the last plane of a layer, and then a little, as the kernel does: the layer that follows is not
// decoded for that. It is for who goes on, and then all is pushed that was not read.
func TestPlaneAndWhatFollows(t *testing.T) {
	p := newPicker(t, 64<<20)
	p.read(7*largePlane, 4, layerBlocks)
	p.read(8*largePlane, 1, pieceBlocks)

	p = newPicker(t, 64<<20)
	p.read(0, 4, layerBlocks)
	p.goOn(4*asked, 12*asked)
	p.until("the last plane of the first layer is pushed", func() bool {
		found, _ := p.pushed.find(7*largePlane, page)
		return found != nil
	})
}

// TestLookElsewhere has a reader who goes through the file read a little elsewhere: it is no guess that this is a plane, for the
// memory has what the reader comes back to.
func TestLookElsewhere(t *testing.T) {
	p := newPicker(t, 64<<20)
	p.goOn(0, 12*asked)
	p.until("two layers are decoded", func() bool { p.loads = p.blocks.Stats().Loads; return p.loads == 2*layerBlocks })
	p.read(28*largePlane, 1, pieceBlocks)
}

// TestWrongGuess reads less than a plane: the memory that was for more is given back.
func TestWrongGuess(t *testing.T) {
	p := newPicker(t, 64<<20)
	p.read(4*largePlane, 1, layerBlocks)
	p.read(12*largePlane, 1, pieceBlocks)
	if !p.blocks.Wrap(p.cube).(volume.Keeper).Reserve(32 << 20) {
		t.Error("less than half of the cache can be reserved")
	}
}

// TestTwoPickers has two readers of planes on one open file: none takes the other's layer.
func TestTwoPickers(t *testing.T) {
	p := newPicker(t, 64<<20)
	p.read(4*largePlane, 2, layerBlocks)
	p.read(12*largePlane, 2, layerBlocks)
	p.read(4*largePlane+2*asked, 2, 0)
	p.read(12*largePlane+2*asked, 2, 0)
}

// TestPiecesOfPlanes reads less than planes: all blocks of a layer are decoded once for it, and for others only after a
// plane was read.
func TestPiecesOfPlanes(t *testing.T) {
	p := newPicker(t, 64<<20)
	p.read(4*largePlane, 1, layerBlocks) // a guess
	p.read(12*largePlane, 1, pieceBlocks)
	p.read(20*largePlane, 1, pieceBlocks)
	p.read(14*largePlane, 4, layerBlocks-pieceBlocks) // a plane
	p.read(25*largePlane, 1, layerBlocks)             // a guess
	p.read(17*largePlane, 2, pieceBlocks)
}

// TestPlanesWithoutMemory reads planes where there is none for a layer of blocks.
func TestPlanesWithoutMemory(t *testing.T) {
	p := newPicker(t, 8<<20)
	for _, z := range []int64{20, 3, 31, 12} {
		for i := range int64(4) {
			p.read(z*largePlane+i*asked, 1, pieceBlocks)
		}
	}
}

// blank is a cube of written zeros, of any size.
type blank struct{ openCube }

func (b blank) Block(context.Context, volume.Vec) ([]byte, error) {
	return make([]byte, b.grid.BlockBytes()), nil
}

func (b blank) Scan(_ context.Context, blocks volume.Box, memory func(b volume.Vec) []byte) error {
	for at := range blocks.All() {
		clear(memory(at))
	}
	return nil
}

// TestBoundsOfLayers begins planes whose layers are decoded at once, and others whose are not: there are too few rows of blocks for
// many cores, or too many bytes to wait for.
func TestBoundsOfLayers(t *testing.T) {
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		size, block volume.Vec
		loads       uint64 // for the first reply
	}{
		{volume.Vec{1024, 512, 8}, volume.Vec{32, 32, 8}, layerBlocks},
		{volume.Vec{1024, 480, 8}, volume.Vec{32, 32, 8}, pieceBlocks}, // planes below 512 KiB
		{volume.Vec{2048, 480, 8}, volume.Vec{32, 32, 8}, 64 * 2},      // 15 rows of blocks
		{volume.Vec{4096, 2048, 9}, volume.Vec{256, 128, 8}, 16 * 16},  // 64 MiB
		{volume.Vec{4096, 2049, 9}, volume.Vec{256, 128, 8}, 16},       // one row of blocks more
	} {
		blocks := cache.New(1 << 30)
		src := blank{openCube{coords{grid: grid(c.size, c.block, volume.Uint8, 1)}, info}}
		f, _ := openSized(t, newCubeTree(src, blocks), "x0.raw")
		if _, err := readPiece(f, 0, asked); err != nil {
			t.Fatal(err)
		}
		if got := blocks.Stats().Loads; got != c.loads {
			t.Errorf("%v voxels in blocks of %v: %d blocks loaded for the first reply, expected %d", c.size, c.block, got, c.loads)
		}
		f.Close()
		blocks.Close()
	}
}

// TestGuessTakesNothing has a reader of a plane come while a stream rests that has all memory there is for slabs: it keeps it.
func TestGuessTakesNothing(t *testing.T) {
	p := newPicker(t, 16<<20)
	p.goOn(0, 12*asked)
	p.until("two layers are decoded", func() bool { p.loads = p.blocks.Stats().Loads; return p.loads == 2*layerBlocks })
	time.Sleep(1100 * time.Millisecond) // after a second another stream might take it
	stream := p.file
	defer stream.Close()
	p.file, _ = openSized(t, p.tree, "x0.raw")
	p.read(28*largePlane, 1, pieceBlocks)
}
