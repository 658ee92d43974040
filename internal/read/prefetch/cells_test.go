package prefetch

import (
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestCells: blocks that share an aligned cell share a number, also below 0. Numbers grow in the order of the list.
func TestCells(t *testing.T) {
	box := volume.Box{Min: volume.Vec{-1, 3, 0}, Max: volume.Vec{9, 6, 3}}
	blocks := slices.Collect(box.All())
	of := cells(blocks, usual.cell)
	numbers, next := map[volume.Vec]int32{}, int32(0)
	for i, b := range blocks {
		at := volume.Vec{floorDiv(b[0], 4), floorDiv(b[1], 4), floorDiv(b[2], 2)}
		want, ok := numbers[at]
		if !ok {
			want, next = next, next+1
			numbers[at] = want
		}
		if of[i] != want {
			t.Errorf("block %v: cell %d, want %d", b, of[i], want)
		}
	}
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

// TestLongReads: a reader of a source whose requests should be long decodes two slabs at a time, in whole cells, and
// each block once. With too little memory for two slabs, it decodes one.
func TestLongReads(t *testing.T) {
	for _, test := range []struct{ budget, longest int64 }{{4 * fitsOneReader, 32}, {fitsOneReader, 16}} {
		inScene(t, test.budget, func(t *testing.T, s *scene) {
			s.longRead = 1 << 20
			r := s.openAll(NoHint)
			defer r.Close()
			for off := int64(0); off < r.array.Size(); off += 128 * k {
				s.read(r, off, 128*k)
				if off == 0 {
					s.longest.Store(0) // the first read is a random one
				}
			}
			s.expectState(r, sequential)
			if got := s.longest.Load(); got != test.longest {
				t.Errorf("budget %d: loads of up to %d blocks, want %d", test.budget, got, test.longest)
			}
			if got, all := s.loads.Load(), int64(4*slabBlocks); got < all || got > all+2*int64(slabBlocks)/8 {
				t.Errorf("budget %d: %d loads of %d blocks", test.budget, got, all)
			}
		})
	}
}
