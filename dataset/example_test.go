package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/volume"
)

// This example opens a dataset, and reads boxes of its first layer through a cache. It works with every format, and
// with a URL.
func Example() {
	ctx := context.Background()
	d, err := dataset.Open(ctx, "../testdata/damaged", dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	layers, err := d.Layers()
	if err != nil {
		log.Fatal(err)
	}
	layer, err := d.Layer(layers[0])
	if err != nil {
		log.Fatal(err)
	}
	mags, err := layer.Mags()
	if err != nil {
		log.Fatal(err)
	}
	mag, err := layer.Mag(mags[0])
	if err != nil {
		log.Fatal(err)
	}
	blocks := cache.New(256 << 20) // of memory; one cache serves all readers of a program
	defer blocks.Close()
	reader, err := dataset.NewReader(mag, blocks)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	fmt.Println(layers, mags, reader.Grid().Type, reader.Bounds())
	for y := range 2 {
		box := volume.Box{Min: volume.Vec{10, 2 + y, 0}, Max: volume.Vec{14, 3 + y, 1}}
		voxels, err := reader.ReadBox(ctx, box)
		fmt.Println(box, voxels, err)
	}
	// A box with a damaged block is an error. It says which file, which part, and at which byte.
	_, err = reader.ReadBox(ctx, volume.Box{Min: volume.Vec{96, 0, 0}, Max: volume.Vec{112, 16, 16}})
	fmt.Println(err)
	// Output:
	// [color] [1] uint8 0-256_0-16_0-16
	// 10-14_2-3_0-1 [42 43 44 45] <nil>
	// 10-14_3-4_0-1 [58 59 60 61] <nil>
	// color/1/z0/y0/x6.wkw: block 1,0,0 at byte 595: expected 512 decoded bytes, found 500
}

// This example opens a mag on a web server. s3://BUCKET/PATH and gs://BUCKET/PATH work the same way. The mag is a
// dataset of one layer, too, and Root says what it is.
func ExampleOpen_url() {
	server := httptest.NewServer(http.FileServer(http.Dir("../testdata/damaged")))
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // for Open alone
	defer cancel()
	d, err := dataset.Open(ctx, server.URL+"/color/1", dataset.Options{
		Timeout: 20 * time.Second, // of each request, with its repetitions
	})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	layers, err := d.Layers()
	fmt.Println(layers, err, d.Root.Mag != nil)
	voxels, err := volume.ReadBox(context.Background(), d.Root.Mag,
		volume.Box{Min: volume.Vec{10, 2, 0}, Max: volume.Vec{14, 3, 1}})
	fmt.Println(voxels, err)
	// Output:
	// [1] <nil> true
	// [42 43 44 45] <nil>
}

// This example follows paths that metadata name, but no URL.
func ExampleOptions() {
	_, err := dataset.Open(context.Background(), "https://example.com/brain.zarr", dataset.Options{
		FollowLinks: true,
		Allow: func(url string) error {
			return errors.New("not allowed")
		},
	})
	fmt.Println(err)
	// Output: https://example.com/brain.zarr: not allowed
}
