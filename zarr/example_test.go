package zarr_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/zarr"
)

// image is an OME-Zarr image with one resolution of 4 × 3 × 2 voxels. In a program, it would be os.DirFS("brain.zarr").
var image = fstest.MapFS{
	"zarr.json": {Data: []byte(`{"zarr_format": 3, "node_type": "group", "attributes": {"ome": {"version": "0.5", "multiscales": [{
		"axes": [{"name": "z", "type": "space", "unit": "nanometer"}, {"name": "y", "type": "space", "unit": "nanometer"}, {"name": "x", "type": "space", "unit": "nanometer"}],
		"datasets": [{"path": "s0", "coordinateTransformations": [{"type": "scale", "scale": [40, 8, 8]}]}]}]}}}`)},
	"s0/zarr.json": {Data: []byte(`{"zarr_format": 3, "node_type": "array", "shape": [2, 3, 4], "data_type": "uint8",
		"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 3, 4]}},
		"chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
		"fill_value": 0, "codecs": [{"name": "bytes"}]}`)},
	"s0/c/0/0/0": {Data: []byte{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}},
	"s0/c/1/0/0": {Data: []byte{100, 101, 102, 103, 110, 111, 112, 113, 120, 121, 122, 123}},
}

// This example lists the resolutions of an image, and reads two boxes of the finest one through a cache.
func Example() {
	root, err := zarr.Recognise(image, ".")
	if err != nil {
		log.Fatal(err)
	}
	mags, err := root.Layer.Mags()
	if err != nil {
		log.Fatal(err)
	}
	mag, err := root.Layer.Mag(mags[0])
	if err != nil {
		log.Fatal(err)
	}
	blocks := cache.New(256 << 20)
	defer blocks.Close()
	reader, err := dataset.NewReader(mag, blocks)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	fmt.Println(mags, reader.Bounds(), reader.Grid().Type, reader.Grid().Spacing)
	for y := range 2 {
		box := volume.Box{Min: volume.Vec{1, y, 1}, Max: volume.Vec{4, y + 1, 2}}
		voxels, err := reader.ReadBox(context.Background(), box)
		fmt.Println(box, voxels, err)
	}
	fmt.Println(blocks.Stats().Loads, "chunk was decoded")
	// Output:
	// [s0] 0-4_0-3_0-2 uint8 [8 8 40]
	// 1-4_0-1_1-2 [101 102 103] <nil>
	// 1-4_1-2_1-2 [111 112 113] <nil>
	// 1 chunk was decoded
}

// This example reads an array whose metadata do not say what it means. Its axes are x, y, z here, and it starts at
// voxel 1000.
func ExampleOpenArray() {
	mag, err := zarr.OpenArray(image, "s0", zarr.ArrayOptions{
		Axes:    []string{"x", "y", "z"},
		Origin:  volume.Vec{1000, 0, 0},
		Spacing: [3]float64{11, 11, 25},
	})
	if err != nil {
		log.Fatal(err)
	}
	bounds, err := mag.Bounds()
	if err != nil {
		log.Fatal(err)
	}
	voxels, err := volume.ReadBox(context.Background(), mag,
		volume.Box{Min: volume.Vec{1000, 1, 2}, Max: volume.Vec{1002, 2, 3}})
	fmt.Println(bounds, voxels, err)
	// Output: 1000-1002_0-3_0-4 [12 112] <nil>
}
