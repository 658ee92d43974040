package main

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestPlacesHaveNothingInCommon checks that no read finds a block that another read has decoded.
func TestPlacesHaveNothingInCommon(t *testing.T) {
	image, labels := tissue(usual.image).header.Grid(), tissue(usual.labels).header.Grid()
	labels.Type = volume.Uint32
	small := tissue(64).header.Grid()
	for _, test := range []struct {
		name  string
		grid  volume.Grid
		reads int
	}{
		{"a page is 4 rows", image, maxReads},
		{"a voxel has 4 bytes", labels, 256},
		{"a page is a plane", small, 2},
	} {
		t.Run(test.name, func(t *testing.T) { checkOffsets(t, test.grid, test.reads) })
	}
	slabs := map[int]bool{}
	for _, plane := range firstPlanes(image) {
		slabs[plane.Min[2]/blockSide] = true
	}
	if len(slabs) != 8 {
		t.Errorf("%d planes are in slabs of their own, want 8", len(slabs))
	}
}

// checkOffsets checks that no two pages have voxels of the same block.
func checkOffsets(t *testing.T, g volume.Grid, reads int) {
	t.Helper()
	offsets := offsets(g)
	if len(offsets) != reads {
		t.Errorf("%d offsets, want %d", len(offsets), reads)
	}
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
