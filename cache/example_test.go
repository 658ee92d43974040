package cache_test

import (
	"context"
	"fmt"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/volume"
)

// indices is a source in which all voxels of a block are the index of the block.
type indices struct{ grid volume.Grid }

func (s indices) Grid() volume.Grid { return s.grid }

func (s indices) Fill(_ context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		b.Voxels = memory(b.At)
		for n := range b.Voxels {
			b.Voxels[n] = byte(b.At.Index(s.grid.Blocks()))
		}
	}
}

func Example() {
	c := cache.New(64 << 20)
	defer c.Close()
	src := c.Source(indices{volume.Grid{Size: volume.Cube(128), Block: volume.Cube(32), Type: volume.Uint8,
		Channels: 1}})
	for range 2 {
		err := src.Read(context.Background(), []volume.Vec{{1, 2, 3}}, cache.Always,
			func(at volume.Vec, voxels []byte) {
				fmt.Printf("block %v: %d bytes, the first is %d\n", at, len(voxels), voxels[0])
			})
		if err != nil {
			fmt.Println(err)
		}
	}
	stats := c.Stats()
	fmt.Println(stats.Loads, "load,", stats.Hits, "hit")
	// Output:
	// block 1,2,3: 32768 bytes, the first is 57
	// block 1,2,3: 32768 bytes, the first is 57
	// 1 load, 1 hit
}
