package n5

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// readManifest returns the arrays of N5.
func readManifest(t *testing.T) (root string, arrays, damaged []refdata.Array) {
	t.Helper()
	root, m := refdata.Arrays(t)
	isOther := func(a refdata.Array) bool { return a.Format != "n5" }
	return root, slices.DeleteFunc(m.Arrays, isOther), slices.DeleteFunc(m.Damaged, isOther)
}

func openDir(t testing.TB, dir string) fs.FS {
	t.Helper()
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// TestReferenceData reads every array that other programs wrote, voxel for voxel.
func TestReferenceData(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	root, arrays, _ := readManifest(t)
	for _, a := range arrays {
		t.Run(a.Path, func(t *testing.T) {
			t.Parallel()
			box := volume.Box{Min: a.TopLeft, Max: volume.Vec(a.TopLeft).Add(a.Size)}
			m, err := OpenArray(openDir(t, filepath.Join(root, a.Path)), ".", ArrayOptions{Axes: a.Axes, Bounds: &box})
			if _, unsupported := errors.AsType[*volume.UnsupportedError](err); unsupported && a.Optional {
				t.Logf("refused: %v", err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if g, _ := m.CubeGrid(); g.Type.String() != a.DType || g.Channels != a.Channels ||
				g.Block != volume.Vec(a.Chunk) || g.Size != g.Block {
				t.Errorf("got the grid %+v, expected %s × %d, blocks of %v", g, a.DType, a.Channels, a.Chunk)
			}
			voxels, err := volume.ReadBox(t.Context(), m, box)
			if err != nil || sum(voxels) != a.SHA256 {
				t.Errorf("got voxels with the checksum %s, %v, expected %s", sum(voxels), err, a.SHA256)
			}
		})
	}
	if len(arrays) < 17 {
		t.Errorf("%d arrays, expected at least 17", len(arrays))
	}
}

// TestReferenceDamage reads arrays with one thing broken in each. What depends on it is an error, and all else reads.
func TestReferenceDamage(t *testing.T) {
	root, _, damaged := readManifest(t)
	for _, a := range damaged {
		t.Run(a.Case, func(t *testing.T) {
			m, err := OpenArray(openDir(t, filepath.Join(root, a.Path)), ".", ArrayOptions{})
			if a.Scope == "array" {
				if _, ok := errors.AsType[*volume.FormatError](err); !ok ||
					!strings.Contains(err.Error(), attributesFile) {
					t.Errorf("got %v, expected an error with the file", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			rest := make([]byte, 0, a.Size[0]*a.Size[1]*a.Size[2])
			for at := range (volume.Box{Max: a.Size}).All() {
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
			if got := sum(rest); got != a.RestSHA256 {
				t.Errorf("the rest has the checksum %s, expected %s", got, a.RestSHA256)
			}
		})
	}
}

// TestResolutions opens groups of resolutions that other programs wrote.
func TestResolutions(t *testing.T) {
	root, arrays, _ := readManifest(t)
	for _, a := range arrays {
		if a.N5 == nil {
			continue
		}
		t.Run(a.Path, func(t *testing.T) {
			r, err := Recognise(openDir(t, filepath.Join(root, path.Dir(a.Path))), ".")
			if err != nil {
				t.Fatal(err)
			}
			m, err := r.Layer.Mag(path.Base(a.Path))
			if err != nil {
				t.Fatal(err)
			}
			g, _ := m.CubeGrid()
			if g.Spacing != a.N5.Scale || m.About().Factor != volume.Factor(a.N5.Factor) || g.Origin != (volume.Vec{}) {
				t.Errorf("got the spacing %v, the factor %v, the origin %v; expected %v, %v, 0", g.Spacing,
					m.About().Factor, g.Origin, a.N5.Scale, a.N5.Factor)
			}
		})
	}
}
