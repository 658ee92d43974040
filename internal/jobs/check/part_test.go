package check

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestParts checks that the parts of a grid have each of its blocks once. In a cube whose side is a power of two, parts
// are adjacent in Morton order, like its blocks in the file.
func TestParts(t *testing.T) {
	for _, test := range []struct {
		blocks volume.Vec
		bytes  int // of a block
		most   int // blocks in a part
	}{
		{volume.Vec{1, 1, 1}, 1, 1},
		{volume.Vec{1, 1, 1}, 1 << 30, 1},
		{volume.Vec{2, 2, 2}, 1 << 30, 1},
		{volume.Vec{4, 4, 4}, 1 << 15, 32},
		{volume.Vec{32, 32, 32}, 1 << 15, 32},
		{volume.Vec{32, 32, 32}, 1, 4096},
		{volume.Vec{16, 16, 16}, 1<<15 + 1, 31},
		{volume.Vec{7, 1, 30}, 1 << 15, 32},
		{volume.Vec{33, 5, 2}, 100_000, 10},
	} {
		grid := volume.Grid{Type: volume.Uint8, Channels: 1, Block: volume.Vec{test.bytes, 1, 1}}
		grid.Size = grid.Block.Mul(test.blocks)
		seen, last := map[volume.Vec]bool{}, -1
		for box := range partsOf(grid) {
			blocks := part{box: box}.blocks()
			if len(blocks) == 0 || len(blocks) > test.most {
				t.Errorf("%v: %d blocks in %v", test, len(blocks), box)
			}
			lowest, highest := 1<<62, 0
			for _, b := range blocks {
				if seen[b.At] || !b.At.In(test.blocks) {
					t.Fatalf("%v: block %v appears twice, or lies outside", test, b.At)
				}
				seen[b.At] = true
				lowest, highest = min(lowest, morton(b.At)), max(highest, morton(b.At))
			}
			if isCube := test.blocks == volume.Cube(test.blocks[0]); isCube && (lowest != last+1 ||
				highest != lowest+len(blocks)-1) {
				t.Errorf("%v: %v has the blocks %d to %d in Morton order, after %d", test, box, lowest, highest, last)
			}
			last = highest
		}
		if n := test.blocks; len(seen) != n[0]*n[1]*n[2] {
			t.Errorf("%v: %d blocks", test, len(seen))
		}
	}
}

// morton interleaves the bits of a position, x lowest.
func morton(at volume.Vec) (n int) {
	for bit := range 3 * 20 {
		n |= at[bit%3] >> (bit / 3) & 1 << bit
	}
	return n
}
