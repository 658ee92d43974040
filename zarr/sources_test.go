package zarr

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// TestFilters reads arrays with floats of 16 bits, filters and other names of axes that other programs wrote, voxel for
// voxel.
func TestFilters(t *testing.T) {
	root, sources := refdata.Sources(t, "zarr")
	prefixes := []string{"half_", "f2_", "f3_", "names_"}
	read := 0
	for _, s := range sources {
		if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s.Name, p) }) ||
			s.Name == "f3_transpose_F" {
			continue
		}
		m, err := OpenArray(openDir(t, filepath.Join(root, s.Mount)), ".", ArrayOptions{})
		if s.Expect == "refused" {
			if _, ok := errors.AsType[*volume.UnsupportedError](err); !ok {
				t.Errorf("%s: got %v, expected that it is unsupported", s.Name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		v := s.Volumes[0]
		if g, _ := m.CubeGrid(); g.Type.String() != v.DType || g.Channels != v.Channels {
			t.Errorf("%s: got %v × %d, expected %v × %d", s.Name, g.Type, g.Channels, v.DType, v.Channels)
		}
		box, _ := m.Bounds()
		voxels, err := volume.ReadBox(t.Context(), m, box)
		if got := sum(voxels); err != nil || got != v.SHA256 {
			t.Errorf("%s: %v, got voxels with the checksum %s, expected %s", s.Name, err, got, v.SHA256)
		}
		read++
	}
	if read < 29 {
		t.Errorf("%d arrays, expected at least 29", read)
	}
}
