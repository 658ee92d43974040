package main

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestPlacesHaveNothingInCommon checks that no read finds a block that another read has decoded.
func TestPlacesHaveNothingInCommon(t *testing.T) {
	image, labels, small := tissue(usual.image).header.Grid(), tissue(usual.labels).header.Grid(),
		tissue(64).header.Grid()
	labels.Type = volume.Uint32
	// a page is 4 rows, 2 rows, a plane
	for g, reads := range map[volume.Grid]int{image: maxReads, labels: 256, small: 2} {
		all := offsets(g)
		if len(all) != reads {
			t.Errorf("%v: %d offsets, want %d", g, len(all), reads)
		}
		by := map[volume.Vec]int64{}
		for _, off := range all {
			for i := off; i < off+page; i++ {
				n := int(i) / g.VoxelBytes()
				block := volume.Vec{n % g.Size[0], n / g.Size[0] % g.Size[1], n / g.Size[0] / g.Size[1]}.Div(g.Block)
				if other, ok := by[block]; ok && other != off || off%page != 0 {
					t.Fatalf("%v: pages at %d and %d: both read block %v", g, off, other, block)
				}
				by[block] = off
			}
		}
	}
	slabs := map[int]bool{}
	for _, plane := range firstPlanes(image) {
		slabs[plane.Min[2]/blockSide] = true
	}
	if len(slabs) != 8 {
		t.Errorf("%d planes are in slabs of their own, want 8", len(slabs))
	}
}
