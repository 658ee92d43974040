package wkw_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// This example opens a dataset and prints its layers and mags.
func Example() {
	root, err := wkw.Recognise(os.DirFS("../testdata/draft"), ".", wkw.Options{})
	if err != nil {
		log.Fatal(err)
	}
	layers, err := root.Dataset.Layers()
	if err != nil {
		log.Fatal(err)
	}
	for _, layerName := range layers {
		layer, err := root.Dataset.Layer(layerName)
		if err != nil {
			log.Fatal(err)
		}
		mags, err := layer.Mags()
		if err != nil {
			log.Fatal(err)
		}
		for _, magName := range mags {
			mag, err := layer.Mag(magName)
			if err != nil {
				log.Fatal(err)
			}
			box, err := mag.Bounds()
			fmt.Println(layerName, magName, box, err)
		}
	}
	// Output: color 1 0-1024_0-1024_0-1024 <nil>
}

// This example reads a box of a mag. For other formats, only Recognise is different.
func ExampleRecognise() {
	root, err := wkw.Recognise(os.DirFS("../testdata/damaged"), "color/1", wkw.Options{Name: "1"})
	if err != nil {
		log.Fatal(err)
	}
	box := volume.Box{Min: volume.Vec{10, 2, 0}, Max: volume.Vec{14, 4, 1}}
	voxels, err := volume.ReadBox(context.Background(), root.Mag, box)
	fmt.Println(voxels, err)
	// Output: [42 43 44 45 58 59 60 61] <nil>
}

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
