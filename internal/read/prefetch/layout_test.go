package prefetch

import (
	"fmt"
	"testing"

	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/volume"
)

// arrayOf returns the array of a box of a grid with blocks of 8 × 8 × 8 voxels of one byte. The voxels inside of size
// are valid.
func arrayOf(size volume.Vec, box volume.Box) *flat.Array {
	g := volume.Grid{Size: size, Block: volume.Cube(8), Type: volume.Uint8, Channels: 1}
	return flat.New(g, box, volume.Box{Max: size})
}

// TestLayout checks layouts of boxes whose sides are close to multiples of a block: that portionAt returns the portion that
// contains the byte, and that the portions together contain each block with valid voxels once.
func TestLayout(t *testing.T) {
	const side = 8
	size := volume.Vec{20, 33, 33}
	lengths := []int{1, side - 1, side, side + 1, 2*side - 1, 2 * side, 2*side + 1, 33, 40}
	for _, start := range []int{-9, -8, -7, -1, 0, 1, 7, 8, 9} {
		for _, y := range lengths {
			for _, z := range lengths {
				lo := volume.Vec{0, start, start}
				a := arrayOf(size, volume.Box{Min: lo, Max: lo.Add(volume.Vec{2, y, z})})
				for rows := 1; rows <= newLayout(a, &usual).slabRows(); rows++ {
					l := newLayout(a, &usual)
					l.rows = rows
					checkLayout(t, l)
				}
				checkLayout(t, newLayout(a, &usual).thick())
			}
		}
	}
}

func checkLayout(t *testing.T, l layout) {
	t.Helper()
	a := l.array
	name := fmt.Sprintf("box %v, %d rows, %d slabs", a.Box(), l.rows, l.slabs)
	for off := int64(0); off < a.Size(); off += a.RowBytes() {
		i := l.portionAt(off)
		y, z := a.RowAt(off)
		at := volume.Vec{a.Box().Min[0], y, z}
		if in := at.Sub(l.portionBox(i).Min); i < 0 || i >= l.count() || !in.In(l.portionBox(i).Size()) {
			t.Fatalf("%s: portionAt returns portion %[4]d of %[5]d for row %[2]d of plane %[3]d, which is not in it", name, y, z, i, l.count())
		}
	}
	blocks, bytes := map[volume.Vec]bool{}, int64(0)
	for i := range l.count() {
		for b := range l.validBlocks(i).All() {
			if blocks[b] {
				t.Fatalf("%s: block %v is in two portions", name, b)
			}
			blocks[b] = true
		}
		n := l.portionBlocks(i).Size()
		bytes = max(bytes, int64(n[0]*n[1]*n[2]*8*8*8))
		if l.slabStart(i) > i || l.slabStart(i)+l.portionsPerSlab() <= i || l.slabStart(i)%l.portionsPerSlab() != 0 {
			t.Fatalf("%s: portion %d: its slab starts with portion %d and has %d portions", name, i, l.slabStart(i), l.portionsPerSlab())
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
		t.Fatalf("%s: %d blocks in portions, expected %d", name, len(blocks), want)
	}
	if l.portionBytes() != bytes {
		t.Fatalf("%s: the largest portion has %d bytes, expected %d", name, l.portionBytes(), bytes)
	}
}

// TestLayoutOfHugeBoxes checks that no computation overflows.
func TestLayoutOfHugeBoxes(t *testing.T) {
	const far = 1 << 40
	for _, size := range []volume.Vec{{far, 1 << 22, 1}, {1, 1 << 31, 1 << 31}, {1 << 20, 1 << 20, 1 << 22}, {far, 1, 1 << 22}, {1, far, 1 << 22}} {
		for _, lo := range []volume.Vec{{}, volume.Cube(-far), volume.Cube(far)} {
			a := arrayOf(volume.Cube(100), volume.Box{Min: lo, Max: lo.Add(size)})
			l := newLayout(a, &usual)
			if l.portionBytes() <= 0 || l.windowMemory() < l.portionBytes() || l.arrayBytes() < l.portionBytes() {
				t.Errorf("%v: a portion has %d bytes, a window needs %d, the array has %d", size, l.portionBytes(), l.windowMemory(), l.arrayBytes())
			}
			if i := l.portionAt(a.Size() - 1); i != l.count()-1 {
				t.Errorf("%v: the last byte is in portion %d of %d", size, i, l.count())
			}
			l.validBlocks(l.count() - 1)
		}
	}
}
