package prefetch

import (
	"fmt"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/volume"
)

// arrayOf returns the array of a box of a grid with blocks of 8 × 8 × 8 voxels of one byte. The voxels inside of size
// are valid.
func arrayOf(size volume.Vec, box volume.Box) *flat.Array {
	g := volume.Grid{Size: size, Block: volume.Cube(8), Type: volume.Uint8, Channels: 1}
	return flat.New(g, box, volume.Box{Max: size})
}

// TestLayout checks layouts of boxes whose sides are close to multiples of a block: that at returns the part that
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
				l := newLayout(a, &usual)
				checkLayout(t, l, 2)
				for l.rows = 1; l.rows <= l.slabRows(); l.rows++ {
					checkLayout(t, l, 1)
				}
			}
		}
	}
}

func checkLayout(t *testing.T, l layout, slabs int) {
	t.Helper()
	a := l.array
	name := fmt.Sprintf("box %v, %d rows, %d slabs", a.Box(), l.rows, slabs)
	for off := int64(0); off < a.Size(); off += a.RowBytes() {
		i := l.at(off)
		y, z := a.RowAt(off)
		at := volume.Vec{a.Box().Min[0], y, z}
		if box := l.part(i, slabs).box; i < 0 || i >= l.count() || !box.Contains(at) {
			t.Fatalf("%s: at returns part %[4]d of %[5]d for row %[2]d of plane %[3]d, which is not in it", name, y, z,
				i, l.count())
		}
	}
	blocks, most := map[volume.Vec]bool{}, int64(0)
	for i := 0; i < l.count(); i += slabs {
		s := l.part(i, slabs)
		for b := range s.blocks.All() {
			if blocks[b] {
				t.Fatalf("%s: block %v is in two portions", name, b)
			}
			blocks[b] = true
		}
		n := s.box.Div(volume.Cube(8)).Size()
		most = max(most, int64(n[0]*n[1]*n[2])*cache.BlockMemory(8*8*8))
		if s.memory() > l.memory(slabs) {
			t.Fatalf("%s: part %d has %d bytes, more than %d", name, i, s.memory(), l.memory(slabs))
		}
		if l.slabStart(i) > i || l.slabStart(i)+l.perSlab() <= i || l.slabStart(i)%l.perSlab() != 0 {
			t.Fatalf("%s: part %d: its slab starts with part %d and has %d parts", name, i, l.slabStart(i), l.perSlab())
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
	if l.memory(slabs) != most {
		t.Fatalf("%s: the largest portion has %d bytes, expected %d", name, l.memory(slabs), most)
	}
}

// TestLayoutOfHugeBoxes checks that no computation overflows.
func TestLayoutOfHugeBoxes(t *testing.T) {
	const far = 1 << 40
	for _, size := range []volume.Vec{{far, 1 << 22, 1}, {1, 1 << 31, 1 << 31}, {1 << 20, 1 << 20, 1 << 22},
		{far, 1, 1 << 22}, {1, far, 1 << 22}} {
		for _, lo := range []volume.Vec{{}, volume.Cube(-far), volume.Cube(far)} {
			a := arrayOf(volume.Cube(100), volume.Box{Min: lo, Max: lo.Add(size)})
			l := newLayout(a, &usual)
			if l.bytes() <= 0 || l.windowMemory(1) < l.bytes() || l.arrayBytes() < l.bytes() {
				t.Errorf("%v: a portion has %d bytes, a window needs %d, the array has %d", size, l.bytes(),
					l.windowMemory(1), l.arrayBytes())
			}
			if i := l.at(a.Size() - 1); i != l.count()-1 {
				t.Errorf("%v: the last byte is in portion %d of %d", size, i, l.count())
			}
			l.part(l.count()-1, 1)
		}
	}
}
