package lattice

import (
	"math/rand/v2"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestBoxes covers random cells. Each cell is in one box, and no other cell is in any.
func TestBoxes(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		size, want := volume.Vec{1 + r.IntN(6), 1 + r.IntN(6), 1 + r.IntN(6)}, map[volume.Vec]int{}
		var cells []volume.Vec
		for c := range (volume.Box{Max: size}).Add(volume.Cube(-3)).All() {
			if r.IntN(4) < int(seed%5) {
				cells = append(cells, c)
				want[c] = 1
			}
		}
		r.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		boxes := Boxes(cells)
		for i, b := range boxes {
			if i > 0 && compareCells(boxes[i-1].Min, b.Min) >= 0 {
				t.Errorf("seed %d: %v is after %v", seed, b, boxes[i-1])
			}
			for c := range b.All() {
				want[c]--
			}
		}
		for c, n := range want {
			if n != 0 {
				t.Errorf("seed %d: cell %v is in %d boxes too few", seed, c, n)
			}
		}
		if seed%5 == 4 && len(boxes) != 1 {
			t.Errorf("seed %d: %d boxes for a whole box", seed, len(boxes))
		}
	}
	if len(Boxes(nil)) != 0 {
		t.Error("boxes of nothing")
	}
}
