package wkw_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// ramp is a cube of 64³ voxels in blocks of 32³. The value of a voxel is its x.
type ramp struct{}

func (ramp) Grid() volume.Grid {
	return volume.Grid{Size: volume.Cube(64), Block: volume.Cube(32), Type: volume.Uint8, Channels: 1}
}

func (r ramp) Fill(_ context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		b.Voxels = memory(b.At)
		for n := range b.Voxels {
			b.Voxels[n] = byte(b.At[0]*32 + n%32)
		}
	}
}

// This example writes a mag of one cube and reads a row of voxels.
func ExampleWriteCube() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.MkdirAll(filepath.Join(dir, "z0/y0"), 0o755); err != nil {
		log.Fatal(err)
	}
	header := wkw.Header{BlockSide: 32, CubeBlocks: 2, BlockType: wkw.LZ4, Type: volume.Uint8, Channels: 1}
	if err := wkw.WriteHeader(filepath.Join(dir, "header.wkw"), header); err != nil {
		log.Fatal(err)
	}
	if err := wkw.WriteCube(context.Background(), filepath.Join(dir, "z0/y0/x0.wkw"), wkw.LZ4, ramp{}); err != nil {
		log.Fatal(err)
	}

	root, err := webknossos.Recognise(os.DirFS(dir), ".", webknossos.Options{})
	if err != nil {
		log.Fatal(err)
	}
	row, err := volume.ReadBox(context.Background(), root.Mag,
		volume.Box{Min: volume.Vec{29, 0, 0}, Max: volume.Vec{35, 1, 1}})
	fmt.Println(row, err)
	// Output: [29 30 31 32 33 34] <nil>
}
