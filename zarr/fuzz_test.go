package zarr

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// maxFuzzedBlock is the size of the largest blocks that fuzz tests decode, in bytes.
const maxFuzzedBlock = 1 << 20

// addFiles adds the files with a name below the reference data to the corpus.
func addFiles(f *testing.F, name string, more ...any) {
	addFilesBelow(f, refdata.Dir(f, "zarr"), name, more...)
	if sources, ok := refdata.Path("sources"); ok {
		addFilesBelow(f, sources, name, more...)
	}
}

func addFilesBelow(f *testing.F, root, name string, more ...any) {
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == name {
			var b []byte
			if b, err = fs.ReadFile(openDir(f, filepath.Dir(path)), name); err == nil {
				f.Add(append([]any{b}, more...)...)
			}
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
}

// fuzzArray opens an array with a metadata file, and reads the first block of a cube from a file with any bytes.
// Nothing may panic or take memory out of proportion, and errors must be those of the format.
func fuzzArray(t *testing.T, name string, metadata, chunk []byte) {
	files := fstest.MapFS{name: &fstest.MapFile{Data: metadata}}
	m, err := OpenArray(files, ".", ArrayOptions{})
	if err != nil {
		wantFormat(t, err)
		return
	}
	g, err := m.CubeGrid()
	if err != nil || g.Validate() != nil {
		t.Fatalf("invalid grid %+v, %v", g, err)
	}
	if _, err := m.Bounds(); err != nil {
		t.Fatal(err)
	}
	if g.BlockBytes() > maxFuzzedBlock || g.Channels > 100 {
		return
	}
	for _, file := range []string{"c/0/0/0", "c.0.0.0", "0.0.0", "0/0/0", "c/0/0/0/0", "0.0.0.0"} {
		files[file] = &fstest.MapFile{Data: chunk}
	}
	c, err := m.OpenCube(volume.Vec{})
	if err != nil {
		return
	}
	defer c.Close()
	voxels, err := volume.ReadBlock(t.Context(), c, volume.Vec{})
	if err != nil {
		wantFormat(t, err)
	} else if voxels != nil && len(voxels) != g.BlockBytes() {
		t.Fatalf("got %d bytes, expected %d", len(voxels), g.BlockBytes())
	}
}

func wantFormat(t *testing.T, err error) {
	t.Helper()
	_, format := errors.AsType[*volume.FormatError](err)
	_, unsupported := errors.AsType[*volume.UnsupportedError](err)
	if !format && !unsupported {
		t.Fatalf("got %T: %v", err, err)
	}
}

func FuzzArrayV2(f *testing.F) {
	addFiles(f, arrayV2, []byte("chunk"))
	f.Fuzz(func(t *testing.T, metadata, chunk []byte) { fuzzArray(t, arrayV2, metadata, chunk) })
}

func FuzzArrayV3(f *testing.F) {
	addFiles(f, metadataV3, []byte("chunk"))
	f.Fuzz(func(t *testing.T, metadata, chunk []byte) { fuzzArray(t, metadataV3, metadata, chunk) })
}

// FuzzGroup opens groups with any metadata. Array 0 is sound.
func FuzzGroup(f *testing.F) {
	addFiles(f, metadataV3)
	f.Add([]byte(`{"zarr_format":3,"node_type":"group","attributes":{"ome":{"multiscales":[{"axes":["z","y","x"],"datasets":[{"path":"0",
		"coordinateTransformations":[{"type":"scale","scale":[1e300,2,3]},{"type":"translation","translation":[-1e300,2,3]}]},{"path":"../1"}]}]}}}`))
	f.Add([]byte(`{"zarr_format":3,"node_type":"group","attributes":` + strings.ReplaceAll(image06, "s0", "0") + `}`))
	f.Fuzz(func(t *testing.T, metadata []byte) {
		r, err := Recognise(fstest.MapFS{
			metadataV3: &fstest.MapFile{Data: metadata},
			"0/zarr.json": &fstest.MapFile{Data: []byte(`{"zarr_format":3,"node_type":"array","shape":[3,4,5],"data_type":"uint8","fill_value":1,"codecs":["bytes"],
				"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,2,2]}},"chunk_key_encoding":{"name":"default"}}`)},
		}, ".")
		if err != nil || r.Layer == nil {
			return
		}
		names, err := r.Layer.Mags()
		if err != nil || len(names) == 0 {
			t.Fatalf("got %v, %v", names, err)
		}
		for _, name := range names {
			m, err := r.Layer.Mag(name)
			if err != nil {
				t.Fatal(err)
			}
			if box, err := m.Bounds(); err != nil || box.Empty() {
				t.Fatalf("got %v, %v", box, err)
			}
		}
	})
}
