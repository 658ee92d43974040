package wkw_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// This example reads the header and one block of a cube file.
func ExampleOpenFile() {
	cube, err := wkw.OpenFile(os.DirFS("../testdata/damaged"), "color/1/z0/y0/x0.wkw")
	if err != nil {
		log.Fatal(err)
	}
	defer cube.Close()
	h := cube.Header()
	fmt.Printf("%d³ blocks of %d³ voxels of %d × %v, %v\n", h.CubeBlocks, h.BlockSide, h.Channels, h.Type, h.BlockType)
	block, err := volume.ReadBlock(context.Background(), cube, volume.Vec{1, 0, 0})
	fmt.Println(len(block), block[:8], err)
	// Output:
	// 2³ blocks of 8³ voxels of 1 × uint8, lz4
	// 512 [8 9 10 11 12 13 14 15] <nil>
}
