package flat

import (
	"math/rand/v2"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// BenchmarkBox copies boxes of 64³ voxels of uint32 at any place out of blocks of 64 × 64 × 32.
func BenchmarkBox(b *testing.B) {
	grid := volume.Grid{Size: volume.Cube(512), Block: volume.Vec{64, 64, 32}, Channels: 1, Type: volume.Uint32}
	blocks := make([][]byte, 60)
	for i := range blocks {
		blocks[i] = make([]byte, grid.BlockBytes())
	}
	p := make([]byte, 1<<20)
	b.SetBytes(1 << 20)
	n := 0
	for b.Loop() {
		lo := volume.Vec{rand.IntN(448), rand.IntN(448), rand.IntN(448)}
		a := New(grid, volume.Box{Min: lo, Max: lo.Add(volume.Cube(64))}, volume.Box{Max: grid.Size})
		err := a.Fill(p, 0, func(list []volume.Vec, copyBlock func(at volume.Vec, voxels []byte)) error {
			for _, at := range list {
				copyBlock(at, blocks[n%len(blocks)])
				n++
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
