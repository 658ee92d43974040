package volume_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// This example lists the layers and mags of a dataset.
func Example() {
	root, err := webknossos.Recognise(os.DirFS("../testdata/damaged"), ".", webknossos.Options{})
	if err != nil {
		log.Fatal(err)
	}
	layers, err := root.Dataset.Layers()
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range layers {
		layer, err := root.Dataset.Layer(name)
		if err != nil {
			log.Fatal(err)
		}
		mags, err := layer.Mags()
		fmt.Println(name, mags, err)
	}
	// Output: color [1] <nil>
}

// openMag opens a mag of the test data.
func openMag() volume.Mag {
	root, err := webknossos.Recognise(os.DirFS("../testdata/damaged"), ".", webknossos.Options{})
	if err != nil {
		log.Fatal(err)
	}
	layer, err := root.Dataset.Layer("color")
	if err != nil {
		log.Fatal(err)
	}
	mag, err := layer.Mag("1")
	if err != nil {
		log.Fatal(err)
	}
	return mag
}

func ExampleMag() {
	mag := openMag()
	cube, err := mag.CubeGrid()
	if err != nil {
		log.Fatal(err)
	}
	bounds, err := mag.Bounds()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("type:  ", cube.Type)
	fmt.Println("cube:  ", cube.Size)
	fmt.Println("block: ", cube.Block)
	fmt.Println("bounds:", bounds)
	// Output:
	// type:   uint8
	// cube:   16,16,16
	// block:  8,8,8
	// bounds: 0-256_0-16_0-16
}

func ExampleReadBox() {
	box := volume.Box{Min: volume.Vec{10, 2, 0}, Max: volume.Vec{14, 4, 1}}
	voxels, err := volume.ReadBox(context.Background(), openMag(), box)
	if err != nil {
		log.Fatal(err)
	}
	size := box.Size()
	for y := range size[1] {
		row := volume.Vec{0, y, 0}.Index(size)
		fmt.Println(voxels[row : row+size[0]])
	}
	// Output:
	// [42 43 44 45]
	// [58 59 60 61]
}

// This example reads one block of a cube file.
func ExampleReadBlock() {
	cube, err := openMag().OpenCube(volume.Vec{10, 0, 0})
	if err != nil {
		log.Fatal(err)
	}
	defer cube.Close()
	block, err := volume.ReadBlock(context.Background(), cube, volume.Vec{1, 0, 0})
	fmt.Println(len(block), block[:8], err)
	// Output: 512 [8 9 10 11 12 13 14 15] <nil>
}

// This example reads a box with a damaged block.
func ExampleFormatError() {
	box := volume.Box{Min: volume.Vec{96, 0, 0}, Max: volume.Vec{112, 16, 16}}
	_, err := volume.ReadBox(context.Background(), openMag(), box)
	if format, ok := errors.AsType[*volume.FormatError](err); ok {
		fmt.Println("file:    ", format.File)
		fmt.Println("part:    ", format.Part)
		fmt.Println("offset:  ", format.Offset)
		fmt.Println("expected:", format.Expected)
		fmt.Println("found:   ", format.Found)
	}
	// Output:
	// file:     color/1/z0/y0/x6.wkw
	// part:     block 1,0,0
	// offset:   595
	// expected: 512 decoded bytes
	// found:    500
}
