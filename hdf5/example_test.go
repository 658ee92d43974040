package hdf5_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"

	"github.com/wkwfs/wkwfs/hdf5"
)

// open opens a file of the tests.
func open(name string) *hdf5.File {
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		log.Fatal(err)
	}
	f, err := hdf5.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		log.Fatal(err)
	}
	return f
}

func Example() {
	file, err := os.Open("testdata/earliest.h5")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	f, err := hdf5.Open(file, info.Size())
	if err != nil {
		log.Fatal(err)
	}
	o, err := f.Lookup("/volumes/raw")
	if err != nil {
		log.Fatal(err)
	}
	raw, ok := o.(*hdf5.Dataset)
	if !ok {
		log.Fatal("not a dataset")
	}
	fmt.Println(raw.Type().Class, raw.Type().Size, raw.Shape(), raw.ChunkShape())

	resolution, _, err := raw.Attribute("resolution")
	if err != nil {
		log.Fatal(err)
	}
	nm, err := resolution.Floats()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(nm)

	values, err := raw.ReadAll(1 << 20)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(values[:6])
	// Output:
	// integer 2 [5 6 7] [2 3 4]
	// [40 4 4]
	// [0 0 31 0 62 0]
}

func ExampleFile_Lookup() {
	f := open("earliest.h5")
	for _, path := range []string{"/soft", "/type", "/outside", "/loop", "/none"} {
		o, err := f.Lookup(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fmt.Println(path, "does not exist")
		case err != nil:
			fmt.Println(err)
		default:
			fmt.Printf("%s is %s: %T\n", path, o.Path(), o)
		}
	}
	// Output:
	// /soft is /volumes/raw: *hdf5.Dataset
	// /type is /type: *hdf5.NamedType
	// HDF5 object "/outside": an external link to "other.h5:/raw" is not supported
	// HDF5 object "/loop", soft link at address 96: expected at most 64 on the way to an object, found a loop
	// /none does not exist
}

func ExampleDataset_Chunks() {
	o, err := open("latest.h5").Lookup("/sparse")
	if err != nil {
		log.Fatal(err)
	}
	sparse := o.(*hdf5.Dataset)
	index, err := sparse.Chunks()
	if err != nil {
		log.Fatal(err)
	}
	for _, at := range [][]uint64{{0, 0}, {1, 1}} {
		chunk, stored, err := index.Lookup(at)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(at, stored, chunk.Size)
	}
	fmt.Println("fill value", sparse.FillValue())
	// Output:
	// [0 0] false 0
	// [1 1] true 8
	// fill value [249 255]
}
