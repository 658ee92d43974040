package filesource

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// TestTimes reads the points in time of a file, voxel for voxel: each is a layer, t0000 and so on. In a folder of files
// they are those of the layer of the file. Their cubes have different versions, so that none is taken for another.
func TestTimes(t *testing.T) {
	root, cases := refdata.Sources(t, "file")
	dir := t.TempDir()
	want := map[string]refdata.SourceVolume{}
	for _, c := range cases {
		if c.Name != "ij_hyper" && c.Name != "nii_4d" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(root, c.Mount))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, c.Mount), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := Recognise(os.DirFS(dir), c.Mount, Options{})
		if err != nil || r.Dataset == nil {
			t.Fatalf("%s: %+v, %v", c.Name, r, err)
		}
		names, err := r.Dataset.Layers()
		if err != nil || len(names) != len(c.Volumes) || names[1] != "t0001" {
			t.Errorf("%s: got %q, %v", c.Name, names, err)
		}
		for i, v := range c.Volumes {
			want[stemOf(c.Mount)+"/"+names[i]] = v
		}
	}
	r, err := Recognise(os.DirFS(dir), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	names, err := r.Dataset.Layers()
	if err != nil || len(names) != 7 || len(want) != 7 {
		t.Errorf("got %q, %v, want %d layers", names, err, len(want))
	}
	var versions []volume.Version
	for name, v := range want {
		l, err := r.Dataset.Layer(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Mag("1")
		if err != nil {
			t.Fatal(err)
		}
		cube, err := m.OpenCube(volume.Vec{})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(versions, cube.Version()) {
			t.Errorf("%s has the version of another time", name)
		}
		versions = append(versions, cube.Version())
		cube.Close()
		box, _ := m.Bounds()
		voxels, err := volume.ReadBox(t.Context(), m, box)
		if got := fmt.Sprintf("%x", sha256.Sum256(voxels)); err != nil || box.Size() != volume.Vec(v.Size) || got != v.SHA256 {
			t.Errorf("%s: %v, %v, got voxels with hash %s, want %s", name, box, err, got, v.SHA256)
		}
	}
}
