package n5_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/n5"
	"github.com/wkwfs/wkwfs/volume"
)

// array is an N5 array of 4 × 3 × 2 voxels, of which the second plane was never written. In a program, it would be
// os.DirFS("brain.n5/raw").
var array = fstest.MapFS{
	"attributes.json": {Data: []byte(`{"dimensions": [4, 3, 2], "blockSize": [4, 3, 1], "dataType": "uint16", "compression": {"type": "raw"},
		"pixelResolution": {"dimensions": [8, 8, 40], "unit": "nm"}}`)},
	// A block has its mode, the number of its axes, its size, and values, all of them big-endian.
	"0/0/0": {Data: []byte{0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 1,
		0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1, 1, 1, 2, 1, 3, 2, 0, 2, 1, 2, 2, 2, 3}},
}

// This example reads two boxes of an array through a cache. Voxels are little-endian.
func Example() {
	root, err := n5.Recognise(array, ".")
	if err != nil {
		log.Fatal(err)
	}
	blocks := cache.New(256 << 20)
	defer blocks.Close()
	reader, err := dataset.NewReader(root.Mag, blocks)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	fmt.Println(reader.Bounds(), reader.Grid().Type, reader.Grid().Spacing)
	for z := range 2 {
		box := volume.Box{Min: volume.Vec{2, 1, z}, Max: volume.Vec{4, 2, z + 1}}
		voxels, err := reader.ReadBox(context.Background(), box)
		fmt.Println(box, voxels, err)
	}
	// Output:
	// 0-4_0-3_0-2 uint16 [8 8 40]
	// 2-4_1-2_0-1 [2 1 3 1] <nil>
	// 2-4_1-2_1-2 [0 0 0 0] <nil>
}

// This example reads an array whose metadata do not say what it means. Its axes are z, y, x here.
func ExampleOpenArray() {
	mag, err := n5.OpenArray(array, ".", n5.ArrayOptions{Axes: []string{"z", "y", "x"}})
	if err != nil {
		log.Fatal(err)
	}
	voxels, err := volume.ReadBox(context.Background(), mag,
		volume.Box{Min: volume.Vec{0, 1, 2}, Max: volume.Vec{1, 2, 4}})
	fmt.Println(voxels, err)
	// Output: [2 1 3 1] <nil>
}
