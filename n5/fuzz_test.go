package n5

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// FuzzArray opens an array with any attributes, and reads a block with any bytes. Nothing may panic or take memory out
// of proportion, and errors must be those of the format.
func FuzzArray(f *testing.F) {
	root := refdata.Dir(f, "zarr")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == attributesFile {
			dir := openDir(f, filepath.Dir(path))
			attributes, err := fs.ReadFile(dir, attributesFile)
			if err != nil {
				return err
			}
			block, err := fs.ReadFile(dir, "0/0/0")
			if err == nil {
				f.Add(attributes, block)
			}
			f.Add(attributes,
				[]byte("\x00\x01\x00\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x01"))
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, attributes, block []byte) {
		m, err := OpenArray(fstest.MapFS{
			attributesFile: &fstest.MapFile{Data: attributes}, "0/0/0": &fstest.MapFile{Data: block},
			"0/0": &fstest.MapFile{Data: block},
		}, ".", ArrayOptions{})
		if err != nil {
			wantFormat(t, err)
			return
		}
		g, err := m.CubeGrid()
		if err != nil || g.Validate() != nil {
			t.Fatalf("invalid grid %+v, %v", g, err)
		}
		if g.BlockBytes() > 1<<20 || g.Channels > 100 {
			return
		}
		c, err := m.OpenCube(volume.Vec{})
		if err != nil {
			return
		}
		defer c.Close()
		if voxels, err := volume.ReadBlock(t.Context(), c, volume.Vec{}); err != nil {
			wantFormat(t, err)
		} else if len(voxels) != g.BlockBytes() {
			t.Fatalf("got %d bytes, expected %d", len(voxels), g.BlockBytes())
		}
	})
}

func wantFormat(t *testing.T, err error) {
	t.Helper()
	_, format := errors.AsType[*volume.FormatError](err)
	_, unsupported := errors.AsType[*volume.UnsupportedError](err)
	if !format && !unsupported {
		t.Fatalf("got %T: %v", err, err)
	}
}

// FuzzTransform places arrays by any attributes of a group and an array.
func FuzzTransform(f *testing.F) {
	f.Add([]byte(`{"pixelResolution":{"dimensions":[4,4,40],"unit":"nm"},"scales":[[1,1,1],[2,2,1]]}`),
		[]byte(`{"downsamplingFactors":[2,2,1]}`))
	f.Add([]byte(`{"resolution":[4,4,40],"units":["um"]}`),
		[]byte(`{"transform":{"axes":["z","y","x"],"scale":[0,-1,1e309],"translate":[1]}}`))
	f.Fuzz(func(t *testing.T, group, array []byte) {
		files := fstest.MapFS{"a/attributes.json": &fstest.MapFile{Data: group},
			"a/s1/attributes.json": &fstest.MapFile{Data: array}}
		g, err := readNode(files, "a")
		if err != nil {
			return
		}
		n, err := readNode(files, "a/s1")
		if err != nil {
			return
		}
		at, _ := n.transform(g, g)
		for axis, s := range at.Spacing() {
			if !(s >= 0 && s <= 1e12) {
				t.Fatalf("axis %d: got a voxel of %v nm", axis, s)
			}
		}
		finest, _ := g.transform(nil, nil)
		at.Factor(finest)
		for _, x := range at.Origin(at) {
			if x < -1<<40 || x > 1<<40 {
				t.Fatalf("got the origin %v", at.Origin(at))
			}
		}
	})
}
