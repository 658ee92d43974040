package edit

import (
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// mag is a mag of which only the description is known.
type mag struct {
	volume.Mag
	grid   volume.Grid
	bounds volume.Box
	about  volume.About
}

func (m mag) CubeGrid() (volume.Grid, error) { return m.grid, nil }
func (m mag) Bounds() (volume.Box, error)    { return m.bounds, nil }
func (m mag) About() volume.About            { return m.about }

// TestCanEdit: what an annotation cannot have is refused, with the reason.
func TestCanEdit(t *testing.T) {
	usual := mag{grid: testGrid, bounds: testBounds,
		about: volume.About{Factor: volume.Factor{2, 2, 1}, Category: "segmentation"}}
	for want, change := range map[string]func(m *mag){
		"":                                func(*mag) {},
		"found a layer of category color": func(m *mag) { m.about.Category = "color" },
		"no voxels before 0,0,0":          func(m *mag) { m.bounds.Min[1] = -1 },
		"annotations have integers":       func(m *mag) { m.grid.Type = volume.Float32 },
		"found one without":               func(m *mag) { m.about.Factor = volume.Factor{} },
	} {
		m := usual
		change(&m)
		if err := canEdit(m); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, expected %q", err, want)
		}
	}
}
