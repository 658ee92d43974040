package arrayfile

import (
	"bytes"
	"context"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// numbered is a cube whose voxel v has the value of its index + 1. Its block 1,0,0 was never written.
type numbered struct {
	volume.CubeFile
	grid volume.Grid
}

func (n numbered) value(v volume.Vec) byte {
	if v.Div(n.grid.Block) == (volume.Vec{1, 0, 0}) {
		return 0
	}
	return byte(v.Index(n.grid.Size) + 1)
}

func (n numbered) Fill(_ context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		box := n.grid.BlockBox(b.At)
		if b.At == (volume.Vec{1, 0, 0}) {
			continue
		}
		b.Voxels = memory(b.At)
		for v := range box.All() {
			b.Voxels[v.Sub(box.Min).Index(n.grid.Block)] = n.value(v)
		}
	}
}

// TestAllBoxesOfCube reads every box of a cube.
func TestAllBoxesOfCube(t *testing.T) {
	g := volume.Grid{Size: volume.Vec{5, 4, 3}, Block: volume.Vec{2, 3, 2}, Type: volume.Uint8, Channels: 1}
	n := numbered{grid: g}
	whole := volume.Box{Max: g.Size}
	for low := range whole.All() {
		for high := range (volume.Box{Min: low, Max: g.Size}).All() {
			box := volume.Box{Min: low, Max: high.Add(volume.Cube(1))}
			var want []byte
			for v := range box.All() {
				want = append(want, n.value(v))
			}
			got := bytes.Repeat([]byte{255}, len(want))
			if err := (ofCube{n, g}).read(t.Context(), box, got); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%v: got %v, %v, want %v", box, got, err, want)
			}
		}
	}
}
