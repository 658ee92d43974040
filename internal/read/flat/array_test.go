package flat_test

import (
	"context"
	"maps"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// countingSource counts how often each block is read.
type countingSource struct {
	voxeltest.Source
	reads map[volume.Vec]int
}

func (c countingSource) Fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	for _, b := range blocks {
		c.reads[b.At]++
	}
	c.Source.Fill(ctx, blocks, memory)
}

// TestReadsOnlyNeededBlocks checks that a read reads each block that contains a byte of it once, and no other block.
func TestReadsOnlyNeededBlocks(t *testing.T) {
	g := grid(volume.Vec{12, 8, 8}, volume.Cube(4), volume.Uint8, 1)
	part := volume.Box{Min: volume.Vec{1, 0, 2}, Max: volume.Vec{12, 7, 8}}
	total := 11 * 7 * 6
	for off := range total {
		for _, n := range []int{1, 10, 11, 12, 30, 77, 78, 150, total - off} {
			n = min(n, total-off)
			want := map[volume.Vec]int{}
			i := 0
			for v := range part.All() {
				if i >= off && i < off+n {
					want[v.Div(g.Block)] = 1
				}
				i++
			}
			src := countingSource{voxeltest.Source{Shape: g}, map[volume.Vec]int{}}
			if _, err := newReader(src, part).ReadAt(make([]byte, n), int64(off)); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(src.reads, want) {
				t.Fatalf("%d bytes at %d: blocks %v were read, want %v", n, off, src.reads, want)
			}
		}
	}
}

// TestReadsAcrossRowsAndPlanes reads across the ends of rows and planes of very many blocks. Visiting all of the
// blocks would take days.
func TestReadsAcrossRowsAndPlanes(t *testing.T) {
	const side = 1 << 30
	g := grid(volume.Vec{side, side, 3}, volume.Cube(2), volume.Uint8, 1)
	block := make([]byte, g.BlockBytes())
	for i := range block {
		block[i] = byte(i)
	}
	array := newReader(repeated{g, block}, volume.Box{Min: volume.Vec{1, 1, 0}, Max: g.Size})
	const row, plane = side - 1, (side - 1) * (side - 1)
	for _, off := range []int64{row, 2*row - 1, plane, plane - 1, 2*plane - 1, plane + row} {
		got := make([]byte, 6)
		if _, err := array.ReadAt(got, off-3); err != nil {
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

func BenchmarkPlane(b *testing.B) {
	g := grid(volume.Cube(1024), volume.Cube(32), volume.Uint8, 1)
	array := newReader(repeated{g, make([]byte, g.BlockBytes())}, volume.Box{Max: g.Size})
	p := make([]byte, 1<<20)
	b.SetBytes(int64(len(p)))
	for i := range b.N {
		if _, err := array.ReadAt(p, int64(i%1024)<<20); err != nil {
			b.Fatal(err)
		}
	}
}

// repeated is a source in which all blocks are the same.
type repeated struct {
	grid  volume.Grid
	block []byte
}

func (r repeated) Grid() volume.Grid { return r.grid }

func (r repeated) Fill(_ context.Context, blocks []volume.Block, _ func(volume.Vec) []byte) {
	for i := range blocks {
		blocks[i].Voxels = r.block
	}
}
