package precomputed_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/precomputed"
	"github.com/wkwfs/wkwfs/volume"
)

// writeVolume writes a volume of uint8 to a temporary directory. It has two scales, in chunks of 4 × 4 × 2 voxels.
// Only two chunks of the first scale exist.
func writeVolume() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "precomputed"); err != nil {
		return "", err
	}
	const info = `{
		"@type": "neuroglancer_multiscale_volume", "type": "image", "data_type": "uint8", "num_channels": 1,
		"scales": [
			{"key": "8_8_40", "resolution": [8, 8, 40], "voxel_offset": [100, 200, 0], "size": [8, 4, 2],
			 "chunk_sizes": [[4, 4, 2]], "encoding": "raw"},
			{"key": "16_16_40", "resolution": [16, 16, 40], "voxel_offset": [50, 100, 0], "size": [4, 2, 2],
			 "chunk_sizes": [[4, 4, 2]], "encoding": "raw"}
		]}`
	chunk := make([]byte, 4*4*2) // x fastest, then y, z
	for i := range chunk {
		chunk[i] = byte(i)
	}
	for name, content := range map[string][]byte{
		"info":                       []byte(info),
		"8_8_40/100-104_200-204_0-2": chunk,
		"8_8_40/104-108_200-204_0-2": chunk,
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return dir, err
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return dir, err
		}
	}
	return dir, nil
}

// This example lists the mags of a volume.
func Example() {
	dir, err := writeVolume()
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	root, err := precomputed.Recognise(os.DirFS(dir), ".", precomputed.Options{})
	if err != nil {
		log.Fatal(err)
	}
	names, err := root.Layer.Mags()
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range names {
		mag, err := root.Layer.Mag(name)
		if err != nil {
			log.Fatal(err)
		}
		bounds, err := mag.Bounds()
		if err != nil {
			log.Fatal(err)
		}
		chunk, err := mag.CubeGrid()
		if err != nil {
			log.Fatal(err)
		}
		about := mag.About()
		fmt.Println(name, about.Factor, about.Category, about.Compression)
		fmt.Println("  voxels", bounds, "in chunks of", chunk.Size, chunk.Type)
	}
	// Output:
	// 8_8_40 1 color raw
	//   voxels 100-108_200-204_0-2 in chunks of 4,4,2 uint8
	// 16_16_40 2-2-1 color raw
	//   voxels 50-54_100-102_0-2 in chunks of 4,4,2 uint8
}

// This example lists the chunks of a mag and reads one.
func ExampleRecognise_chunk() {
	dir, err := writeVolume()
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	root, err := precomputed.Recognise(os.DirFS(dir), ".", precomputed.Options{})
	if err != nil {
		log.Fatal(err)
	}
	mag, err := root.Layer.Mag("8_8_40")
	if err != nil {
		log.Fatal(err)
	}
	for c, err := range volume.AllCubes(mag) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("chunk", c)
	}

	chunk, err := mag.OpenCube(volume.Vec{1, 0, 0})
	if err != nil {
		log.Fatal(err)
	}
	defer chunk.Close()
	voxels, err := volume.ReadBlock(context.Background(), chunk, volume.Vec{}) // the only block
	if err != nil {
		log.Fatal(err)
	}
	at := volume.Vec{2, 1, 0} // in the chunk
	fmt.Println("voxel", chunk.Grid().Origin.Add(at), "is", voxels[at.Index(chunk.Grid().Size)])

	_, err = mag.OpenCube(volume.Vec{2, 0, 0})
	fmt.Println("absent:", errors.Is(err, fs.ErrNotExist))
	// Output:
	// chunk 0,0,0
	// chunk 1,0,0
	// voxel 106,201,0 is 6
	// absent: true
}

// This example reads a box that lies in two chunks.
func ExampleRecognise_box() {
	dir, err := writeVolume()
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	root, err := precomputed.Recognise(os.DirFS(dir), ".", precomputed.Options{})
	if err != nil {
		log.Fatal(err)
	}
	mag, err := root.Layer.Mag("8_8_40")
	if err != nil {
		log.Fatal(err)
	}
	box := volume.Box{Min: volume.Vec{102, 200, 1}, Max: volume.Vec{106, 202, 2}}
	voxels, err := volume.ReadBox(context.Background(), mag, box)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(voxels[:4])
	fmt.Println(voxels[4:])
	// Output:
	// [18 19 16 17]
	// [22 23 20 21]
}
