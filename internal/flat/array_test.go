package flat_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/wkwfs/wkwfs/internal/flat"
	"github.com/wkwfs/wkwfs/volume"
)

// coords is a source whose bytes encode their own coordinates, so that a byte from
// the wrong place is seen. Blocks in absent were never written.
type coords struct {
	grid   volume.Grid
	absent map[volume.Vec]bool
	broken map[volume.Vec]error
}

func (c coords) Grid() volume.Grid { return c.grid }

func (c coords) Block(b volume.Vec) ([]byte, error) {
	if err := c.broken[b]; err != nil {
		return nil, err
	}
	if c.absent[b] {
		return nil, nil
	}
	n := c.grid.VoxelBytes()
	block := make([]byte, 0, c.grid.BlockBytes())
	lo := b.Mul(c.grid.Block)
	for v := range (volume.Box{Min: lo, Max: lo.Add(c.grid.Block)}).All() {
		for i := range n {
			block = append(block, byteAt(v, i))
		}
	}
	return block, nil
}

// byteAt is byte i of the voxel at v; never 0, so that it is told from a hole.
func byteAt(v volume.Vec, i int) byte {
	h := uint32(v[0])*2654435761 + uint32(v[1])*40503 + uint32(v[2])*2246822519 + uint32(i)*97
	return byte(h>>13)%255 + 1
}

// naive is the flat array as its definition says: voxel by voxel.
func naive(c coords, box volume.Box) []byte {
	var flat []byte
	for v := range box.All() {
		for i := range c.grid.VoxelBytes() {
			if !v.In(c.grid.Size) || c.absent[v.Div(c.grid.Block)] {
				flat = append(flat, 0)
			} else {
				flat = append(flat, byteAt(v, i))
			}
		}
	}
	return flat
}

func grid(size, block volume.Vec, t volume.Type, channels int) volume.Grid {
	return volume.Grid{Size: size, Block: block, Type: t, Channels: channels}
}

// readerAt is an array of a source's voxels as an io.ReaderAt.
type readerAt struct {
	*flat.Array
	src blockReader
}

type blockReader interface {
	Grid() volume.Grid
	Block(b volume.Vec) ([]byte, error)
}

func newReader(src blockReader, box volume.Box) readerAt {
	g := src.Grid()
	return readerAt{flat.New(g, box, volume.Box{Max: g.Size}), src}
}

func (r readerAt) ReadAt(p []byte, off int64) (int, error) {
	if off >= r.Size() {
		return 0, io.EOF
	}
	var eof error
	if int64(len(p)) > r.Size()-off {
		p, eof = p[:r.Size()-off], io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	err := r.Fill(p, off, func(blocks []volume.Vec, place func(volume.Vec, []byte)) error {
		for _, i := range rand.Perm(len(blocks)) {
			voxels, err := r.src.Block(blocks[i])
			if err != nil {
				return err
			}
			place(blocks[i], voxels)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(p), eof
}

var cases = []struct {
	name string
	grid volume.Grid
	box  volume.Box
}{
	{"one voxel", grid(volume.Cube(1), volume.Cube(1), volume.Uint8, 1), volume.Box{Max: volume.Cube(1)}},
	{"one block", grid(volume.Cube(8), volume.Cube(8), volume.Uint16, 1), volume.Box{Max: volume.Cube(8)}},
	{"cube", grid(volume.Cube(16), volume.Cube(4), volume.Uint8, 1), volume.Box{Max: volume.Cube(16)}},
	{"blocks of one voxel", grid(volume.Cube(5), volume.Cube(1), volume.Uint32, 1), volume.Box{Max: volume.Cube(5)}},
	{"three channels", grid(volume.Cube(8), volume.Cube(4), volume.Uint8, 3), volume.Box{Max: volume.Cube(8)}},
	{"wide voxels", grid(volume.Cube(8), volume.Cube(2), volume.Float64, 5), volume.Box{Max: volume.Cube(8)}},
	{"cut off at the far edge", grid(volume.Vec{13, 7, 9}, volume.Cube(4), volume.Uint16, 1), volume.Box{Max: volume.Vec{13, 7, 9}}},
	{"one block of many", grid(volume.Cube(16), volume.Cube(4), volume.Uint8, 1), volume.Box{Min: volume.Vec{4, 8, 12}, Max: volume.Vec{8, 12, 16}}},
	{"across blocks", grid(volume.Cube(16), volume.Cube(4), volume.Int16, 1), volume.Box{Min: volume.Vec{3, 1, 5}, Max: volume.Vec{14, 10, 6}}},
	{"outside on all sides", grid(volume.Cube(8), volume.Cube(4), volume.Uint8, 1), volume.Box{Min: volume.Vec{-5, -1, -4}, Max: volume.Vec{11, 9, 13}}},
	{"nowhere near", grid(volume.Cube(8), volume.Cube(4), volume.Uint8, 1), volume.Box{Min: volume.Vec{100, -90, 3}, Max: volume.Vec{103, -80, 6}}},
	{"blocks that differ by axis", grid(volume.Vec{20, 12, 6}, volume.Vec{8, 3, 2}, volume.Uint8, 2), volume.Box{Max: volume.Vec{20, 12, 6}}},
}

// TestAgreesWithModel reads every range of small arrays, and random ranges of
// larger ones, and compares with the model.
func TestAgreesWithModel(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			src := coords{grid: c.grid, absent: map[volume.Vec]bool{{1, 0, 0}: true, {0, 1, 1}: true}}
			want := naive(src, c.box)
			flat := newReader(src, c.box)
			if flat.Size() != int64(len(want)) {
				t.Fatalf("size %d, want %d", flat.Size(), len(want))
			}
			check := func(off, n int) {
				t.Helper()
				p := bytes.Repeat([]byte{0xAA}, n)
				got, err := flat.ReadAt(p, int64(off))
				end := min(off+n, len(want))
				if wantErr := off+n > len(want); wantErr != (err == io.EOF) || !wantErr && err != nil {
					t.Fatalf("read %d bytes at %d: error %v", n, off, err)
				}
				if got != max(end-off, 0) || !bytes.Equal(p[:got], want[min(off, len(want)):max(end, min(off, len(want)))]) {
					t.Fatalf("read %d bytes at %d: %d bytes, not those of the model", n, off, got)
				}
			}
			if len(want) <= 130 {
				for off := range len(want) + 1 {
					for n := 1; n <= len(want)-off+1; n++ {
						check(off, n)
					}
				}
				return
			}
			r := rand.New(rand.NewPCG(1, uint64(len(want))))
			for range 600 {
				off := r.IntN(len(want) + 1)
				check(off, 1+r.IntN(1+r.IntN(len(want)-off+2)))
			}
			check(0, len(want))
		})
	}
}

func TestIsAReader(t *testing.T) {
	src := coords{grid: grid(volume.Cube(8), volume.Cube(4), volume.Uint16, 1)}
	box := volume.Box{Max: volume.Cube(8)}
	flat := newReader(src, box)
	if err := iotest.TestReader(io.NewSectionReader(flat, 0, flat.Size()), naive(src, box)); err != nil {
		t.Error(err)
	}
}

// TestErrors holds that an error concerns exactly the reads that need the block.
func TestErrors(t *testing.T) {
	bad := errors.New("damaged")
	src := coords{
		grid:   grid(volume.Cube(8), volume.Cube(4), volume.Uint8, 1),
		broken: map[volume.Vec]error{{1, 0, 1}: bad},
	}
	flat := newReader(src, volume.Box{Max: volume.Cube(8)})
	var p [1]byte
	for v := range (volume.Box{Max: volume.Cube(8)}).All() {
		n, err := flat.ReadAt(p[:], int64(v.Index(volume.Cube(8))))
		if inBad := v.Div(volume.Cube(4)) == (volume.Vec{1, 0, 1}); inBad {
			if !errors.Is(err, bad) || n != 0 {
				t.Errorf("voxel %v: %d bytes, error %v; want none, %v", v, n, err, bad)
			}
		} else if err != nil || p[0] != byteAt(v, 0) {
			t.Errorf("voxel %v: %d, error %v", v, p[0], err)
		}
	}
	if n, err := flat.ReadAt(make([]byte, 512), 0); !errors.Is(err, bad) || n != 0 {
		t.Errorf("whole: %d bytes, error %v; want all or nothing", n, err)
	}
}

// counting counts how often each block is asked for.
type counting struct {
	coords
	asked chan volume.Vec
}

func (c counting) Block(b volume.Vec) ([]byte, error) {
	c.asked <- b
	return c.coords.Block(b)
}

// TestAsksForWhatItNeeds holds that a read asks once for each block that has a
// byte of it, and for no other.
func TestAsksForWhatItNeeds(t *testing.T) {
	size := volume.Vec{12, 8, 8}
	g := grid(size, volume.Cube(4), volume.Uint8, 1)
	box := volume.Box{Min: volume.Vec{1, 0, 2}, Max: volume.Vec{12, 7, 8}}
	total := 11 * 7 * 6
	for off := range total {
		for _, n := range []int{1, 10, 11, 12, 30, 77, 78, 150, total - off} {
			n = min(n, total-off)
			want := map[volume.Vec]int{}
			i := 0
			for v := range box.All() {
				if i >= off && i < off+n {
					want[v.Div(g.Block)] = 1
				}
				i++
			}
			src := counting{coords{grid: g}, make(chan volume.Vec, 1000)}
			if _, err := newReader(src, box).ReadAt(make([]byte, n), int64(off)); err != nil {
				t.Fatal(err)
			}
			close(src.asked)
			got := map[volume.Vec]int{}
			for b := range src.asked {
				got[b]++
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%d bytes at %d: asked for %v, want %v", n, off, got, want)
			}
		}
	}
}

// TestAcrossEnds reads over the ends of rows and planes that have so many blocks
// that to look at each of them would take days.
func TestAcrossEnds(t *testing.T) {
	const side = 1 << 30
	g := grid(volume.Vec{side, side, 3}, volume.Cube(2), volume.Uint8, 1)
	block := make([]byte, g.BlockBytes())
	for i := range block {
		block[i] = byte(i)
	}
	flat := newReader(constant{g, block}, volume.Box{Min: volume.Vec{1, 1, 0}, Max: g.Size})
	const row, plane = side - 1, (side - 1) * (side - 1)
	for _, off := range []int64{row, 2*row - 1, plane, plane - 1, 2*plane - 1, plane + row} {
		got := make([]byte, 6)
		if _, err := flat.ReadAt(got, off-3); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			at := off - 3 + int64(i)
			v := volume.Vec{int(at%row) + 1, int(at/row%row) + 1, int(at / plane)}
			if want := byte(v[0]&1 | v[1]&1<<1 | v[2]&1<<2); got[i] != want {
				t.Errorf("byte %d, voxel %v: got %d, want %d", at, v, got[i], want)
			}
		}
	}
}

// TestGather gathers ranges of single planes out of layers of blocks in memory, and compares them with the model.
func TestGather(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			src := coords{grid: c.grid, absent: map[volume.Vec]bool{{1, 0, 0}: true, {0, 1, 1}: true}}
			want := naive(src, c.box)
			r := newReader(src, c.box)
			rnd := rand.New(rand.NewPCG(1, uint64(len(want))))
			for range 300 {
				z := rnd.IntN(c.box.Size()[2])
				off := rnd.Int64N(r.Plane())
				n := 1 + rnd.Int64N(r.Plane()-off)
				off += int64(z) * r.Plane()
				layer := r.Blocks().Intersect(volume.Box{Max: c.grid.Blocks()})
				if layer.Empty() {
					layer = volume.Box{}
				}
				var voxels [][]byte
				for at := range layer.All() {
					block, _ := src.Block(at)
					voxels = append(voxels, block)
				}
				p := bytes.Repeat([]byte{0xAA}, int(n))
				r.Gather(p, off, layer, voxels)
				if !bytes.Equal(p, want[off:off+n]) {
					t.Fatalf("%d bytes at %d: not those of the model", n, off)
				}
			}
		})
	}
}

func BenchmarkPlane(b *testing.B) {
	g := grid(volume.Cube(1024), volume.Cube(32), volume.Uint8, 1)
	block := make([]byte, g.BlockBytes())
	flat := newReader(constant{g, block}, volume.Box{Max: g.Size})
	p := make([]byte, 1<<20)
	b.SetBytes(int64(len(p)))
	for i := range b.N {
		if _, err := flat.ReadAt(p, int64(i%1024)<<20); err != nil {
			b.Fatal(err)
		}
	}
}

// constant is a source of one and the same block.
type constant struct {
	grid  volume.Grid
	block []byte
}

func (c constant) Grid() volume.Grid                { return c.grid }
func (c constant) Block(volume.Vec) ([]byte, error) { return c.block, nil }
