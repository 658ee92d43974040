package wkw

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// refMag is one mag in a manifest of the reference data, with the fields that this package uses.
type refMag struct {
	Dataset, Layer, Mag   string
	DType                 string `json:"dtype"`
	Channels, Block, Cube int
	Compression           string
	Cubes                 map[string]struct{ SHA256 string }
}

func TestReferenceData(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	for _, set := range refdata.WKW() {
		dir := refdata.Dir(t, set)
		b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		var mags []refMag
		if err := json.Unmarshal(b, &mags); err != nil {
			t.Fatal(err)
		}
		for _, mag := range mags {
			for cube, want := range mag.Cubes {
				name := path.Join(mag.Dataset, mag.Layer, mag.Mag, cube)
				t.Run(path.Join(set, name), func(t *testing.T) {
					checkReference(t, filepath.Join(dir, name+".wkw"), mag, want.SHA256)
				})
			}
		}
	}
}

func checkReference(t *testing.T, name string, mag refMag, sum string) {
	f := openPath(t, name)
	dtype := map[string]string{"float": "float32", "double": "float64"}[mag.DType]
	if dtype == "" {
		dtype = mag.DType
	}
	want := Header{
		BlockSide:  mag.Block,
		CubeBlocks: mag.Cube / mag.Block,
		BlockType:  f.Header().BlockType,
		Channels:   mag.Channels,
		DataOffset: f.Header().DataOffset,
	}
	var err error
	if want.Type, err = volume.ParseType(dtype); err != nil {
		t.Fatal(err)
	}
	if f.Header() != want || (mag.Compression != "" && f.Header().BlockType.String() != mag.Compression) {
		t.Fatalf("got %+v, expected %+v, %s", f.Header(), want, mag.Compression)
	}
	hash := sha256.New()
	writeFlat(t, hash, f)
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		t.Errorf("got voxels with the checksum %s, expected %s", got, sum)
	}
}

// writeFlat writes the cube in Fortran order, slab by slab.
func writeFlat(t *testing.T, w io.Writer, f *File) {
	t.Helper()
	g := f.Grid()
	row, line := g.Block[0]*g.VoxelBytes(), g.Size[0]*g.VoxelBytes()
	slab := make([]byte, g.Block[2]*g.Size[1]*line)
	for z := range g.Blocks()[2] {
		for b := range (volume.Box{Min: volume.Vec{0, 0, z}, Max: volume.Vec{g.Blocks()[0], g.Blocks()[1],
			z + 1}}).All() {
			block, err := volume.ReadBlock(t.Context(), f, b)
			if err != nil {
				t.Fatal(err)
			}
			for i := range g.Block[1] * g.Block[2] {
				y, z := b[1]*g.Block[1]+i%g.Block[1], i/g.Block[1]
				copy(slab[(z*g.Size[1]+y)*line+b[0]*row:], block[i*row:(i+1)*row])
			}
		}
		w.Write(slab)
	}
}
