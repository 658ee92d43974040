package main

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestPlacesHaveNothingInCommon checks that no read finds a block that another read has decoded.
func TestPlacesHaveNothingInCommon(t *testing.T) {
	m := mag{piece: usual.em()}
	for _, test := range []struct {
		name string
		piece
		reads int
	}{
		{"a page is 4 rows", usual.em(), maxReads},
		{"a voxel has 4 bytes", usual.segmentation(), 256},
		{"a page is a plane", tiny.em(), 2},
	} {
		t.Run(test.name, func(t *testing.T) { checkOffsets(t, test.piece, test.reads) })
	}
	slabs := map[int]bool{}
	for _, z := range m.planes() {
		slabs[z/blockSide] = true
	}
	if len(slabs) != maxPlanes {
		t.Errorf("%d planes are in slabs of their own, want %d", len(slabs), maxPlanes)
	}
}

// checkOffsets checks that no two pages have voxels of the same block.
func checkOffsets(t *testing.T, p piece, reads int) {
	t.Helper()
	offsets := p.offsets()
	if len(offsets) != reads {
		t.Errorf("%d offsets, want %d", len(offsets), reads)
	}
	g := p.header.Grid()
	by := map[volume.Vec]int64{}
	for _, off := range offsets {
		if off%page != 0 {
			t.Errorf("offset %d is not that of a page", off)
		}
		for i := off; i < off+page; i++ {
			n := int(i) / g.VoxelBytes()
			voxel := volume.Vec{n % g.Size[0], n / g.Size[0] % g.Size[1], n / g.Size[0] / g.Size[1]}
			block := voxel.Div(g.Block)
			if other, ok := by[block]; ok && other != off {
				t.Fatalf("pages at %d and %d: both read block %v", off, other, block)
			}
			by[block] = off
		}
	}
}

// TestDivide checks the number of parts, and that they cover the box exactly once.
func TestDivide(t *testing.T) {
	for _, test := range []struct {
		size volume.Vec
		n    int
		want int // parts
	}{
		{volume.Vec{32, 32, 32}, 16, 16},
		{volume.Vec{32, 32, 1}, 16, 16},
		{volume.Vec{5, 1, 1}, 4, 3},
		{volume.Vec{1, 1, 1}, 8, 1},
	} {
		box := volume.Box{Min: volume.Vec{3, 4, 5}, Max: volume.Vec{3, 4, 5}.Add(test.size)}
		var sum int
		var union volume.Box
		parts := divide(box, test.n)
		for _, p := range parts {
			size := p.Size()
			sum += size[0] * size[1] * size[2]
			union = union.Union(p)
		}
		if len(parts) != test.want || union != box || sum != test.size[0]*test.size[1]*test.size[2] {
			t.Errorf("%v divided by %d: %v", test.size, test.n, parts)
		}
	}
}
