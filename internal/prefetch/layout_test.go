package prefetch

import (
	"fmt"
	"testing"

	"github.com/wkwfs/wkwfs/internal/flat"
	"github.com/wkwfs/wkwfs/volume"
)

// arrayOf lays out a box of a grid of blocks of 8 × 8 × 8 voxels of one byte, all of which are valid in size.
func arrayOf(size volume.Vec, box volume.Box) *flat.Array {
	g := volume.Grid{Size: size, Block: volume.Cube(8), Type: volume.Uint8, Channels: 1}
	return flat.New(g, box, volume.Box{Max: size})
}

// TestLayout holds for boxes of all sizes about a block, and for all cuts, that each byte is in the slab that is named for it,
// and that slabs have all blocks with valid voxels, once.
func TestLayout(t *testing.T) {
	const side = 8
	size := volume.Vec{20, 33, 33}
	lengths := []int{1, side - 1, side, side + 1, 2*side - 1, 2 * side, 2*side + 1, 33, 40}
	for _, start := range []int{-9, -8, -7, -1, 0, 1, 7, 8, 9} {
		for _, y := range lengths {
			for _, z := range lengths {
				lo := volume.Vec{0, start, start}
				a := arrayOf(size, volume.Box{Min: lo, Max: lo.Add(volume.Vec{2, y, z})})
				for rows := 1; rows <= newLayout(a).allRows(); rows++ {
					l := newLayout(a)
					l.rows = rows
					checkLayout(t, l)
				}
				checkLayout(t, newLayout(a).whole())
			}
		}
	}
}

func checkLayout(t *testing.T, l layout) {
	t.Helper()
	a := l.array
	name := fmt.Sprintf("box %v, %d rows, %d layers", a.Box(), l.rows, l.layers)
	for off := int64(0); off < a.Size(); off += a.Row() {
		i := l.index(off)
		y, z := a.RowAt(off)
		at := volume.Vec{a.Box().Min[0], y, z}
		if in := at.Sub(l.slabBox(i).Min); i < 0 || i >= l.count() || !in.In(l.slabBox(i).Size()) {
			t.Fatalf("%s: row %d, %d is said to be in slab %d of %d", name, y, z, i, l.count())
		}
	}
	blocks, bytes := map[volume.Vec]bool{}, int64(0)
	for i := range l.count() {
		for b := range l.validBlocks(i).All() {
			if blocks[b] {
				t.Fatalf("%s: block %v is in two slabs", name, b)
			}
			blocks[b] = true
		}
		n := l.slabBlocks(i).Size()
		bytes = max(bytes, int64(n[0]*n[1]*n[2]*8*8*8))
		if l.layer(i) > i || l.layer(i)+l.parts() <= i || l.layer(i)%l.parts() != 0 {
			t.Fatalf("%s: slab %d in the layer that starts with %d, of %d parts", name, i, l.layer(i), l.parts())
		}
	}
	valid := a.Box().Intersect(a.Valid())
	want := 0
	for b := range l.blocks.All() {
		lo := b.Mul(volume.Cube(8))
		if !(volume.Box{Min: lo, Max: lo.Add(volume.Cube(8))}).Intersect(valid).Empty() {
			want++
		}
	}
	if len(blocks) != want {
		t.Fatalf("%s: %d blocks in slabs, expected %d", name, len(blocks), want)
	}
	if l.slabBytes() != bytes {
		t.Fatalf("%s: slabs of %d bytes at most, expected %d", name, l.slabBytes(), bytes)
	}
}

// TestLayoutOfHugeBoxes holds that no size of a box overflows.
func TestLayoutOfHugeBoxes(t *testing.T) {
	const far = 1 << 40
	for _, size := range []volume.Vec{{far, 1 << 22, 1}, {1, 1 << 31, 1 << 31}, {1 << 20, 1 << 20, 1 << 22}, {far, 1, 1 << 22}, {1, far, 1 << 22}} {
		for _, lo := range []volume.Vec{{}, volume.Cube(-far), volume.Cube(far)} {
			a := arrayOf(volume.Cube(100), volume.Box{Min: lo, Max: lo.Add(size)})
			for _, l := range []layout{newLayout(a), newLayout(a).whole()} {
				if l.slabBytes() <= 0 || l.pairBytes() < l.slabBytes() {
					t.Errorf("%v: %d bytes of a slab, %d of two", size, l.slabBytes(), l.pairBytes())
				}
				if i := l.index(a.Size() - 1); i != l.count()-1 {
					t.Errorf("%v: the last byte is in slab %d of %d", size, i, l.count())
				}
				l.validBlocks(l.count() - 1)
			}
		}
	}
}
