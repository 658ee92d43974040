package webknossos_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// This example opens a dataset and prints its layers and mags.
func Example() {
	root, err := webknossos.Recognise(os.DirFS("../testdata/draft"), ".", webknossos.Options{})
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
	root, err := webknossos.Recognise(os.DirFS("../testdata/damaged"), "color/1", webknossos.Options{Name: "1"})
	if err != nil {
		log.Fatal(err)
	}
	box := volume.Box{Min: volume.Vec{10, 2, 0}, Max: volume.Vec{14, 4, 1}}
	voxels, err := volume.ReadBox(context.Background(), root.Mag, box)
	fmt.Println(voxels, err)
	// Output: [42 43 44 45 58 59 60 61] <nil>
}
