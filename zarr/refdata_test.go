package zarr

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

func openDir(t testing.TB, dir string) fs.FS {
	t.Helper()
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// TestReferenceData reads every array that other programs wrote, voxel for voxel.
func TestReferenceData(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	root, manifest := refdata.Arrays(t)
	count := 0
	for _, a := range manifest.Arrays {
		if a.Expect == "error" || !strings.HasPrefix(a.Format, "zarr") {
			continue
		}
		count++
		t.Run(a.Path, func(t *testing.T) {
			t.Parallel()
			box := volume.Box{Min: a.TopLeft, Max: volume.Vec(a.TopLeft).Add(a.Size)}
			m, err := OpenArray(openDir(t, filepath.Join(root, a.Path)), ".", ArrayOptions{Axes: a.Axes, Bounds: &box})
			if a.Path == filtered && err == nil {
				return // TestFilters reads such arrays
			}
			if a.Expect == "unsupported" || err != nil && a.Optional {
				if _, ok := errors.AsType[*volume.UnsupportedError](err); !ok {
					t.Errorf("got %v, expected that it is unsupported", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkArray(t, m, a, box)
		})
	}
	if count < 19 {
		t.Errorf("%d arrays, expected at least 19", count)
	}
}

// filtered has a filter, which the manifest has as not supported.
const filtered = "v2_filters/delta"

// nested has shards in shards. The manifest has the outer ones as its chunks.
const nested = "v3_shards/nested"

func checkArray(t *testing.T, m volume.Mag, a refdata.Array, box volume.Box) {
	t.Helper()
	g, err := m.CubeGrid()
	if err != nil {
		t.Fatal(err)
	}
	dtype := strings.NewReplacer("bool", "uint8", "float16", "float32").Replace(a.DType)
	size := a.Chunk
	if a.Shard != nil {
		size = *a.Shard
	}
	if g.Type.String() != dtype || g.Channels != a.Channels || g.Size != size ||
		g.Block != volume.Vec(a.Chunk) && a.Path != nested {
		t.Errorf("got the grid %+v, expected %s × %d, chunks of %v in %v", g, a.DType, a.Channels, a.Chunk, size)
	}
	voxels, err := volume.ReadBox(t.Context(), m, box)
	if err != nil {
		t.Fatal(err)
	}
	if got := sum(a.Stored(voxels)); got != a.SHA256 {
		t.Errorf("got voxels with the checksum %s, expected %s", got, a.SHA256)
	}
	for _, v := range a.Voxels {
		got, err := volume.ReadBox(t.Context(), m, volume.Box{Min: v.At, Max: volume.Vec(v.At).Add(volume.Cube(1))})
		if err != nil || hex.EncodeToString(a.Stored(got)) != v.Hex {
			t.Errorf("voxel %v: got %x, %v, expected %s", v.At, got, err, v.Hex)
		}
	}
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// TestReferenceDamage reads arrays with one thing broken in each. What depends on it is an error, and all else reads.
func TestReferenceDamage(t *testing.T) {
	root, manifest := refdata.Arrays(t)
	for _, a := range manifest.Damaged {
		if !strings.HasPrefix(a.Format, "zarr") || a.Scope == "group" {
			continue
		}
		t.Run(a.Case, func(t *testing.T) {
			m, err := OpenArray(openDir(t, filepath.Join(root, a.Path)), ".", ArrayOptions{Axes: a.Axes})
			if a.Scope == "array" {
				_, format := errors.AsType[*volume.FormatError](err)
				_, unsupported := errors.AsType[*volume.UnsupportedError](err)
				if !format && !unsupported || !strings.Contains(err.Error(), ".zarray") &&
					!strings.Contains(err.Error(), "zarr.json") {
					t.Errorf("got %v, expected an error with the file", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkDamaged(t, m, a)
		})
	}
}

func checkDamaged(t *testing.T, m volume.Mag, a refdata.Array) {
	t.Helper()
	var rest []byte
	for z := range a.Size[2] {
		for y := range a.Size[1] {
			for x := range a.Size[0] {
				at := volume.Vec{x, y, z}
				voxel, err := volume.ReadBox(t.Context(), m, at.BoxOfOne())
				bad := a.IsBad(at)
				if _, format := errors.AsType[*volume.FormatError](err); format != bad || err != nil && !bad {
					t.Fatalf("voxel %v: got %v, expected an error: %v", at, err, bad)
				}
				if bad {
					g, _ := m.CubeGrid()
					voxel = make([]byte, g.VoxelBytes())
				}
				rest = append(rest, voxel...)
			}
		}
	}
	if got := sum(rest); got != a.RestSHA256 {
		t.Errorf("the rest has the checksum %s, expected %s", got, a.RestSHA256)
	}
}

// TestRecogniseReferenceData opens each image and group that other programs wrote, without hints about axes.
func TestRecogniseReferenceData(t *testing.T) {
	root, manifest := refdata.Arrays(t)
	for _, a := range manifest.Arrays {
		if a.OME == nil {
			continue
		}
		t.Run(a.Path, func(t *testing.T) {
			dir := path.Dir(a.Path)
			r, err := Recognise(openDir(t, filepath.Join(root, dir)), ".")
			if err != nil {
				t.Fatal(err)
			}
			l := r.Layer
			if r.Dataset != nil {
				if l, err = r.Dataset.Layer("image"); err != nil {
					t.Fatal(err)
				}
			}
			m, err := l.Mag(path.Base(a.Path))
			if err != nil {
				t.Fatal(err)
			}
			box, err := m.Bounds()
			if err != nil || box.Size() != volume.Vec(a.Size) {
				t.Errorf("got the bounds %v, %v, expected the size %v", box, err, a.Size)
			}
			unit := map[string]float64{"nanometer": 1, "micrometer": 1000}[a.OME.Unit]
			g, _ := m.CubeGrid()
			for axis, scale := range a.OME.Scale {
				if g.Spacing[axis] != scale*unit {
					t.Errorf("got the spacing %v, expected %v %s", g.Spacing, a.OME.Scale, a.OME.Unit)
				}
			}
			if f := m.About().Factor; f != volume.Factor(a.OME.Factor) {
				t.Errorf("got the factor %v, expected %v", f, a.OME.Factor)
			}
			t.Logf("origin %v for the translation %v", g.Origin, a.OME.Translation)
			checkArray(t, m, refdata.Array{DType: a.DType, Channels: a.Channels, Chunk: a.Chunk, Shard: a.Shard,
				SHA256: a.SHA256}, box)
		})
	}
}
