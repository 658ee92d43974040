package dataset

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/mosaic"
	"github.com/wkwfs/wkwfs/internal/tests/vfstest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/n5"
	"github.com/wkwfs/wkwfs/precomputed"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/zarr"
)

// smallMags are a mag of each format, with a cube at 0,0,0.
var smallMags = map[string]struct {
	files     fs.FS
	recognise func(fsys fs.FS) (volume.Root, error)
}{
	"WKW": {os.DirFS("../testdata/draft"), func(fsys fs.FS) (volume.Root, error) {
		return webknossos.Recognise(fsys, "color/1", webknossos.Options{Name: "1"})
	}},
	"Zarr": {fstest.MapFS{
		".zarray": {Data: []byte(
			`{"zarr_format": 2, "shape": [2, 2, 2], "chunks": [1, 2, 2], "dtype": "|u1", "order": "C", "compressor": null, "filters": null, "fill_value": 0}`)},
		"0.0.0": {Data: []byte("chun")},
	}, func(fsys fs.FS) (volume.Root, error) { return zarr.Recognise(fsys, ".") }},
	"N5": {fstest.MapFS{
		"attributes.json": {Data: []byte(
			`{"dimensions": [2, 2, 2], "blockSize": [2, 2, 1], "dataType": "uint8", "compression": {"type": "raw"}}`)},
		"0/0/0": {Data: []byte("\x00\x00\x00\x03\x00\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00\x01bloc")},
	}, func(fsys fs.FS) (volume.Root, error) { return n5.Recognise(fsys, ".") }},
	"Precomputed": {fstest.MapFS{
		"info": {Data: []byte(`{"@type": "neuroglancer_multiscale_volume", "type": "image", "data_type": "uint8", "num_channels": 1,
			"scales": [{"key": "s", "resolution": [8, 8, 40], "size": [2, 2, 2], "chunk_sizes": [[2, 2, 1]], "encoding": "raw"}]}`)},
		"s/0-2_0-2_0-1": {Data: []byte("chun")},
	}, func(fsys fs.FS) (volume.Root, error) { return precomputed.Recognise(fsys, ".", precomputed.Options{}) }},
}

// TestFormatsReportSpeed: the mags and cubes of all formats report on the speed of their files, and so do mosaics and
// caches of them.
func TestFormatsReportSpeed(t *testing.T) {
	for name, f := range smallMags {
		t.Run(name, func(t *testing.T) {
			inside := vfstest.Around(f.files)
			root, err := f.recognise(inside)
			if err != nil {
				t.Fatal(err)
			}
			as := vfs.Speed.OfChunks
			if name == "WKW" {
				as = func(s vfs.Speed) vfs.Speed { return s }
			}
			layer := root.AsLayer()
			mags, err := layer.Mags()
			if err != nil || len(mags) == 0 {
				t.Fatal(mags, err)
			}
			mag, err := layer.Mag(mags[0])
			if err != nil {
				t.Fatal(err)
			}
			cube, err := mag.OpenCube(volume.Vec{})
			if err != nil {
				t.Fatal(err)
			}
			defer cube.Close()
			vfstest.ReportsSpeed(t, inside, cube, as)
			m, err := mosaic.New(mag, false)
			if err != nil {
				t.Fatal(err)
			}
			blocks := cache.New(0)
			defer blocks.Close()
			for _, source := range []any{mag, m, blocks.Source(m)} {
				vfstest.ReportsSpeed(t, inside, source, as)
			}
		})
	}
}
