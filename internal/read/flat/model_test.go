package flat_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// readerAt makes an array of a source an io.ReaderAt. It reads the blocks in random order.
type readerAt struct {
	*flat.Array
	src volume.Source
}

func newReader(src volume.Source, box volume.Box) readerAt {
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
	err := r.Fill(p, off, func(blocks []volume.Vec, copyBlock func(volume.Vec, []byte)) error {
		for _, i := range rand.Perm(len(blocks)) {
			voxels, err := volume.ReadBlock(context.Background(), r.src, blocks[i])
			if err != nil {
				return err
			}
			copyBlock(blocks[i], voxels)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(p), eof
}

func box(min, max volume.Vec) volume.Box { return volume.Box{Min: min, Max: max} }

var (
	grid  = voxeltest.Grid
	cases = []struct {
		name string
		grid volume.Grid
		box  volume.Box
	}{
		{"one voxel", grid(volume.Cube(1), volume.Cube(1), volume.Uint8, 1), box(volume.Vec{}, volume.Cube(1))},
		{"one block", grid(volume.Cube(8), volume.Cube(8), volume.Uint16, 1), box(volume.Vec{}, volume.Cube(8))},
		{"cube", grid(volume.Cube(16), volume.Cube(4), volume.Uint8, 1), box(volume.Vec{}, volume.Cube(16))},
		{"blocks of one voxel", grid(volume.Cube(5), volume.Cube(1), volume.Uint32, 1),
			box(volume.Vec{}, volume.Cube(5))},
		{"three channels", grid(volume.Cube(8), volume.Cube(4), volume.Uint8, 3), box(volume.Vec{}, volume.Cube(8))},
		{"large voxels", grid(volume.Cube(8), volume.Cube(2), volume.Float64, 5), box(volume.Vec{}, volume.Cube(8))},
		{"partial blocks at the end", grid(volume.Vec{13, 7, 9}, volume.Cube(4), volume.Uint16, 1),
			box(volume.Vec{}, volume.Vec{13, 7, 9})},
		{"one block of many", grid(volume.Cube(16), volume.Cube(4), volume.Uint8, 1),
			box(volume.Vec{4, 8, 12}, volume.Vec{8, 12, 16})},
		{"across blocks", grid(volume.Cube(16), volume.Cube(4), volume.Int16, 1),
			box(volume.Vec{3, 1, 5}, volume.Vec{14, 10, 6})},
		{"outside on all sides", grid(volume.Cube(8), volume.Cube(4), volume.Uint8, 1),
			box(volume.Vec{-5, -1, -4}, volume.Vec{11, 9, 13})},
		{"outside", grid(volume.Cube(8), volume.Cube(4), volume.Uint8, 1),
			box(volume.Vec{100, -90, 3}, volume.Vec{103, -80, 6})},
		{"rows of 32 bytes", grid(volume.Vec{96, 10, 8}, volume.Vec{16, 5, 4}, volume.Uint16, 1),
			box(volume.Vec{}, volume.Vec{96, 10, 8})},
		{"parts of rows of 32 bytes", grid(volume.Vec{128, 12, 4}, volume.Vec{32, 4, 2}, volume.Uint8, 1),
			box(volume.Vec{5, 1, 0}, volume.Vec{120, 11, 4})},
		{"different block sides", grid(volume.Vec{20, 12, 6}, volume.Vec{8, 3, 2}, volume.Uint8, 2),
			box(volume.Vec{}, volume.Vec{20, 12, 6})},
	}
)

// sourceOf returns a source with two absent blocks.
func sourceOf(g volume.Grid) voxeltest.Source {
	return voxeltest.Source{Shape: g, Absent: map[volume.Vec]bool{{1, 0, 0}: true, {0, 1, 1}: true}}
}

// TestAgreesWithModel compares all ranges of small arrays, and random ranges of larger ones, with the model.
func TestAgreesWithModel(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			src := sourceOf(c.grid)
			want, array := src.Flat(c.box), newReader(src, c.box)
			if array.Size() != int64(len(want)) {
				t.Fatalf("size %d, want %d", array.Size(), len(want))
			}
			if len(want) <= 130 {
				for off := range len(want) + 1 {
					for n := 1; n <= len(want)-off+1; n++ {
						checkRange(t, array, want, off, n)
					}
				}
				return
			}
			r := rand.New(rand.NewPCG(1, uint64(len(want))))
			for range 600 {
				off := r.IntN(len(want) + 1)
				checkRange(t, array, want, off, 1+r.IntN(1+r.IntN(len(want)-off+2)))
			}
			checkRange(t, array, want, 0, len(want))
		})
	}
}

// checkRange reads n bytes at off. want is the whole array.
func checkRange(t *testing.T, array readerAt, want []byte, off, n int) {
	t.Helper()
	p := bytes.Repeat([]byte{0xAA}, n)
	got, err := array.ReadAt(p, int64(off))
	end := min(off+n, len(want))
	if wantErr := off+n > len(want); wantErr != (err == io.EOF) || !wantErr && err != nil {
		t.Fatalf("read %d bytes at %d: error %v", n, off, err)
	}
	if got != max(end-off, 0) || !bytes.Equal(p[:got], want[min(off, len(want)):max(end, min(off, len(want)))]) {
		t.Fatalf("read %d bytes at %d: %d bytes, which differ from the model", n, off, got)
	}
}

// TestGather gathers ranges of single planes from blocks in memory and compares them with the model.
func TestGather(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			src := sourceOf(c.grid)
			want, array := src.Flat(c.box), newReader(src, c.box)
			rnd := rand.New(rand.NewPCG(1, uint64(len(want))))
			for range 300 {
				z := rnd.IntN(c.box.Size()[2])
				off := rnd.Int64N(array.PlaneBytes())
				n := 1 + rnd.Int64N(array.PlaneBytes()-off)
				off += int64(z) * array.PlaneBytes()
				inMemory := array.Blocks().Intersect(volume.Box{Max: c.grid.Blocks()})
				if inMemory.Empty() {
					inMemory = volume.Box{}
				}
				var voxels [][]byte
				for at := range inMemory.All() {
					block, _ := volume.ReadBlock(t.Context(), src, at)
					voxels = append(voxels, block)
				}
				p := bytes.Repeat([]byte{0xAA}, int(n))
				array.Gather(p, off, inMemory, voxels)
				if !bytes.Equal(p, want[off:off+n]) {
					t.Fatalf("%d bytes at %d differ from the model", n, off)
				}
			}
		})
	}
}

func TestReaderAt(t *testing.T) {
	src := voxeltest.Source{Shape: grid(volume.Cube(8), volume.Cube(4), volume.Uint16, 1)}
	all := volume.Box{Max: volume.Cube(8)}
	array := newReader(src, all)
	if err := iotest.TestReader(io.NewSectionReader(array, 0, array.Size()), src.Flat(all)); err != nil {
		t.Error(err)
	}
}

// TestErrors checks that exactly the reads that need a damaged block fail.
func TestErrors(t *testing.T) {
	damaged, bad := errors.New("damaged"), volume.Vec{1, 0, 1}
	src := voxeltest.Source{
		Shape:   grid(volume.Cube(8), volume.Cube(4), volume.Uint8, 1),
		Damaged: map[volume.Vec]error{bad: damaged},
	}
	all := volume.Box{Max: volume.Cube(8)}
	array := newReader(src, all)
	var p [1]byte
	for v := range all.All() {
		n, err := array.ReadAt(p[:], int64(v.Index(volume.Cube(8))))
		if v.Div(volume.Cube(4)) == bad {
			if !errors.Is(err, damaged) || n != 0 {
				t.Errorf("voxel %v: %d bytes, error %v; want none, %v", v, n, err, damaged)
			}
		} else if err != nil || p[0] != voxeltest.ByteAt(v, 0) {
			t.Errorf("voxel %v: %d, error %v", v, p[0], err)
		}
	}
	if n, err := array.ReadAt(make([]byte, 512), 0); !errors.Is(err, damaged) || n != 0 {
		t.Errorf("whole array: %d bytes, error %v; want none, %v", n, err, damaged)
	}
}
