package voxeltest

import (
	"bytes"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestSource compares blocks and flat arrays with their definition, voxel by voxel.
func TestSource(t *testing.T) {
	for _, typ := range []volume.Type{volume.Uint8, volume.Uint32, volume.Float64} {
		src := Source{
			Shape:  Grid(volume.Vec{150, 9, 7}, volume.Vec{70, 4, 3}, typ, 3),
			Absent: map[volume.Vec]bool{{1, 0, 1}: true},
		}
		block := []volume.Block{{At: volume.Vec{2, 1, 1}}}
		src.Fill(t.Context(), block, func(volume.Vec) []byte { return make([]byte, src.Shape.BlockBytes()) })
		lo := block[0].At.Mul(src.Shape.Block)
		var want []byte
		for v := range (volume.Box{Min: lo, Max: lo.Add(src.Shape.Block)}).All() {
			for i := range src.Shape.VoxelBytes() {
				want = append(want, ByteAt(v, i))
			}
		}
		if !bytes.Equal(block[0].Voxels, want) {
			t.Errorf("%v: block %v has other bytes than its voxels", typ, block[0].At)
		}
		for _, box := range []volume.Box{{Max: src.Shape.Size},
			{Min: volume.Vec{-3, -1, 2}, Max: volume.Vec{160, 8, 9}},
			{Min: volume.Vec{71, 3, 3}, Max: volume.Vec{139, 5, 4}}} {
			want = nil
			for v := range box.All() {
				for i := range src.Shape.VoxelBytes() {
					if v.In(src.Shape.Size) && !src.Absent[v.Div(src.Shape.Block)] {
						want = append(want, ByteAt(v, i))
					} else {
						want = append(want, 0)
					}
				}
			}
			if !bytes.Equal(src.Flat(box), want) {
				t.Errorf("%v: box %v has other bytes than its voxels", typ, box)
			}
		}
	}
}
