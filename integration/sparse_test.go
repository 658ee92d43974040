package integration

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestHugeSparseVolumes: volumes of 10^18 voxels, none or one chunk of which was written, are read from several places
// at a time. No block is decoded for what was never written, or takes memory of the cache besides its entry, whatever
// the fill value is.
func TestHugeSparseVolumes(t *testing.T) {
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector has memory of its own")
	}
	const side, readers, size = 1_000_000, 4, 2 << 20
	zarr2 := `{"zarr_format":2,"shape":[1000000,1000000,1000000],"chunks":[64,64,64],"dtype":"|u1","compressor":null,"fill_value":FILL,"order":"C","filters":null}`
	zarr3 := `{"zarr_format":3,"node_type":"array","shape":[1000000,1000000,1000000],"data_type":"uint8","fill_value":FILL,"codecs":[CODEC],
		"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[128,128,128]}},"chunk_key_encoding":{"name":"default"}}`
	shards := `{"name":"sharding_indexed","configuration":{"chunk_shape":[64,64,64],"codecs":["bytes"],"index_codecs":[{"name":"bytes","configuration":{"endian":"little"}}]}}`
	n5 := `{"dimensions":[1000000,1000000,1000000],"blockSize":[64,64,64],"dataType":"uint8","compression":{"type":"raw"}}`
	info := `{"data_type":"uint8","num_channels":1,"type":"image","scales":[{"key":"1","size":[1000000,1000000,1000000],"resolution":[4,4,4],
		"voxel_offset":[0,0,0],"chunk_sizes":[[64,64,64]],"encoding":"raw"}]}`
	for _, c := range []struct {
		name, file, text string
		fill             byte
	}{
		{"Zarr2", ".zarray", strings.ReplaceAll(zarr2, "FILL", "7"), 7},
		{"Zarr2Zero", ".zarray", strings.ReplaceAll(zarr2, "FILL", "0"), 0},
		{"Zarr3", "zarr.json", strings.NewReplacer("FILL", "7", "CODEC", `"bytes"`).Replace(zarr3), 7},
		{"Zarr3Shards", "zarr.json", strings.NewReplacer("FILL", "7", "CODEC", shards).Replace(zarr3), 7},
		{"N5", "attributes.json", n5, 0},
		{"Precomputed", "info", info, 0},
		{"HDF5", "", "", 7}, // one chunk of it is stored
	} {
		t.Run(c.name, func(t *testing.T) {
			source := refdata.Outside(t, "hdf5", "damaged/huge_sparse.h5")
			if c.file != "" {
				source = filepath.Dir(writeFile(t, filepath.Join(tempDir(t), c.file), []byte(c.text)))
			}
			s := mountServer(t, source, "--cache-size", "64MiB")
			var name string
			for _, pattern := range []string{"volume.raw", "*/volume.raw", "*/*/volume.raw"} {
				if found, err := filepath.Glob(filepath.Join(s.dir, pattern)); err == nil && len(found) == 1 {
					name = found[0]
					break // what is below has a million names
				}
			}
			var all sync.WaitGroup
			for i := range int64(readers) {
				all.Go(func() { readFill(t, name, (i+1)*(side*side*100+side*70), size, c.fill) })
			}
			all.Wait()
			got := statusOf(t, s.dir).Cache
			rows := uint64(size/side + 2) // that a reader touches, before and after the start of a row
			if blocks := uint64(side/64 + 1); got.Decoded > readers*rows*blocks {
				t.Errorf("%d blocks, want at most %d", got.Decoded, readers*rows*blocks)
			}
			if got.DecodedBytes > 1<<20 || got.HeldBytes > readers*int64(side/64*2)*256 {
				t.Errorf("%d bytes were decoded, %d are held, want at most a MiB, and 256 for each block",
					got.DecodedBytes, got.HeldBytes)
			}
			checkPeak(t, s, 64<<20)
		})
	}
}

// readFill reads n bytes of a file, which must all have one value.
func readFill(t *testing.T, name string, off, n int64, value byte) {
	f, err := os.Open(name)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, off, n))
	if err != nil || int64(len(b)) != n || bytes.Count(b, []byte{value}) != len(b) {
		t.Errorf("%s: %d bytes at %d, %d of them %d, want %d: %v", name, len(b), off, bytes.Count(b, []byte{value}),
			value, n, err)
	}
}

// TestMappedFillValue: the ids of chunks that were never written are mapped, too, in their own type and in a wider one,
// and the layer below keeps its own.
func TestMappedFillValue(t *testing.T) {
	const side, chunk, fill, written = 40, 16, 7, 9
	source := tempDir(t)
	array := filepath.Join(source, "ids/1")
	writeFile(t, filepath.Join(array, ".zarray"),
		[]byte(
			`{"zarr_format":2,"shape":[40,40,40],"chunks":[16,16,16],"dtype":"<u4","compressor":null,"fill_value":7,"order":"C","filters":null}`))
	writeFile(t, filepath.Join(array, "1.0.2"), bytes.Repeat([]byte{written, 0, 0, 0}, chunk*chunk*chunk)) // z, y, x
	writeFile(t, filepath.Join(source, "datasource-properties.json"), []byte(`{"scale":[4,4,4],"dataLayers":[{"name":"ids","category":"segmentation","dataFormat":"zarr",
		"boundingBox":{"topLeft":[0,0,0],"width":40,"height":40,"depth":40},"mags":[{"mag":[1,1,1],"path":"./ids/1","axisOrder":{"x":2,"y":1,"z":0}}]}]}`))
	tables := t.TempDir()
	narrow := writeFile(t, filepath.Join(tables, "narrow.csv"), []byte("7,70\n9,90\n"))
	wide := writeFile(t, filepath.Join(tables, "wide.csv"), []byte("7,1099511627776\n9,91\n"))
	dir := mount(t, source, "--relabel=ids="+narrow, "--relabel=ids="+wide)
	for _, c := range []struct {
		layer         string
		size          int
		fill, written uint64
	}{{"ids@narrow", 4, 70, 90}, {"ids@wide", 8, 1 << 40, 91}, {"ids", 4, fill, written}, {"ids@narrow", 4, 70, 90}} {
		b, err := os.ReadFile(filepath.Join(dir, c.layer, "1/volume.raw"))
		if err != nil || len(b) != side*side*side*c.size {
			t.Fatalf("%s: %d bytes, want %d: %v", c.layer, len(b), side*side*side*c.size, err)
		}
		for i := range side * side * side {
			want := c.fill
			if i%side/chunk == 2 && i/side%side/chunk == 0 && i/side/side/chunk == 1 {
				want = c.written
			}
			var value [8]byte
			copy(value[:], b[i*c.size:][:c.size])
			if got := binary.LittleEndian.Uint64(value[:]); got != want {
				t.Fatalf("%s: voxel %d is %d, want %d", c.layer, i, got, want)
			}
		}
	}
}
