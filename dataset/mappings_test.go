package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// composed returns the cases of a manifest.
func composed(t *testing.T, name string) (dir string, all []refdata.Composed) {
	t.Helper()
	dir = refdata.Dir(t, name)
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m refdata.ComposedManifest
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return dir, m.Cases
}

// voxelsOfMag returns the voxels in the bounding box of a mag, and its geometry.
func voxelsOfMag(t *testing.T, d volume.Dataset, layer, mag string, part ...volume.Box) ([]byte, volume.Grid, error) {
	t.Helper()
	var g volume.Grid
	l, err := d.Layer(layer)
	if err != nil {
		return nil, g, err
	}
	names, err := l.Mags()
	if err != nil {
		return nil, g, err
	}
	want, _ := volume.ParseFactor(mag)
	i := slices.IndexFunc(names, func(n string) bool { f, _ := volume.ParseFactor(n); return f == want })
	if i < 0 {
		return nil, g, fs.ErrNotExist
	}
	m, err := l.Mag(names[i])
	if err != nil {
		return nil, g, err
	}
	box, err := m.Bounds()
	if err == nil {
		g, err = m.CubeGrid()
	}
	if err != nil {
		return nil, g, err
	}
	for _, p := range part {
		box = box.Intersect(p)
	}
	g.Origin, g.Size = box.Min, box.Size()
	voxels, err := volume.ReadBox(t.Context(), m, box)
	return voxels, g, err
}

// compareComposed reads all volumes of a case, and compares them with their hashes.
func compareComposed(t *testing.T, d volume.Dataset, c refdata.Composed, skip func(layer string) bool) (compared int) {
	t.Helper()
	for _, v := range c.Volumes {
		if skip(v.Layer) || v.Time != nil {
			continue
		}
		box := volume.Box{Min: volume.Vec(v.Offset), Max: volume.Vec(v.Offset).Add(v.Size)}
		if v.Part == nil {
			box = volume.Box{Min: volume.Cube(-1 << 40), Max: volume.Cube(1 << 40)} // all that there is
		}
		voxels, g, err := voxelsOfMag(t, d, v.Layer, v.Mag, box)
		if errors.Is(err, fs.ErrNotExist) && v.Optional {
			continue
		}
		if c.Expect == "error" && !v.Readable {
			if err == nil {
				t.Errorf("%s, mag %s: read without an error", v.Layer, v.Mag)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s, mag %s: %v", v.Layer, v.Mag, err)
			continue
		}
		want := v.SHA256
		if g.Type.String() != v.DType && g.Type == volume.Uint64 {
			want = v.SHA256Uint64
		}
		sum := sha256.Sum256(voxels)
		if got := hex.EncodeToString(sum[:]); got != want || g.Size != volume.Vec(v.Size) ||
			g.Origin != volume.Vec(v.Offset) {
			t.Errorf("%s, mag %s: got %v %v at %v, expected %v %v at %v, or other voxels", v.Layer, v.Mag, g.Type,
				g.Size, g.Origin, v.DType, v.Size, v.Offset)
		}
		for axis := range 3 {
			// the manifest has rounded numbers
			if v.VoxelSize == nil || math.Abs(g.Spacing[axis]-v.VoxelSize[axis]) < 1e-6 {
				continue
			}
			t.Errorf("%s, mag %s: voxels of %v nm, expected %v", v.Layer, v.Mag, g.Spacing, *v.VoxelSize)
		}
		compared++
	}
	return compared
}

// TestMappings reads all mapped layers of the reference data. Damaged mappings are left out with the reason, and leave
// the others alone.
func TestMappings(t *testing.T) {
	dir, cases := composed(t, "mappings")
	compared := 0
	for _, c := range cases {
		if c.Over != nil {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			d, err := Open(t.Context(), filepath.Join(dir, c.Mount),
				Options{FollowLinks: slices.Contains(c.Flags, "--follow-links")})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			compared += compareComposed(t, d, c, func(string) bool { return false })
			names, err := d.Layers()
			if err != nil {
				t.Fatal(err)
			}
			omitted := d.Root.Dataset.(volume.Omitter).Omitted()
			for _, absent := range c.Absent {
				if c.Name == "bad_h5_filter" { // LZF, which other readers lack
					continue
				}
				if slices.Contains(names, absent) {
					if _, _, err := voxelsOfMag(t, d, absent, "1"); err == nil {
						t.Errorf("%s is shown", absent)
					}
				} else if i := slices.IndexFunc(omitted,
					func(o volume.Omission) bool { return o.Name == absent }); i < 0 {
					t.Errorf("%s is left out without a reason: %v", absent, omitted)
				} else {
					t.Log(omitted[i].Reason)
				}
			}
		})
	}
	if compared < 15 {
		t.Errorf("%d volumes were compared", compared)
	}
}
