package zarr

import (
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// image06 has the attributes of an image of OME-Zarr 0.6: the resolutions lead to "intrinsic", and its transformation
// to "world".
const image06 = `{"ome":{"version":"0.6","multiscales":[{"name":"em","coordinateSystems":[
	{"name":"world","axes":[{"name":"x"},{"name":"y"},{"name":"z"}]},
	{"name":"intrinsic","axes":[{"name":"z","type":"space","unit":"micrometer"},{"name":"y","type":"space","unit":"micrometer"},
		{"name":"x","type":"space","unit":"micrometer"}]}],
	"datasets":[
	{"path":"s0","coordinateTransformations":[{"type":"scale","scale":[40,4,5],"input":{"path":"s0"},"output":{"name":"intrinsic"}}]},
	{"path":"s1","coordinateTransformations":[{"type":"sequence","input":{"path":"s1"},"output":{"name":"intrinsic"},"transformations":[
		{"type":"scale","scale":[40,8,10]},{"type":"translation","translation":[0,2,2.5]}]}]}],
	"coordinateTransformations":[{"type":"rotation","rotation":[[0,1,0],[1,0,0],[0,0,1]],"input":{"name":"intrinsic"},"output":{"name":"world"}}]}]}}`

// TestCoordinateSystems: an image of OME-Zarr 0.6 has the axes and the voxel sizes of the coordinate system that its
// resolutions lead to. Transformations that move voxels otherwise are refused by name.
func TestCoordinateSystems(t *testing.T) {
	for _, c := range []struct{ old, new, err string }{
		{"", "", ""},
		{`{"name":"intrinsic"}`, `"intrinsic"`, ""}, // as drafts of the version have it
		{`"output":{"name":"intrinsic"}`, `"output":{"name":"other"}`, `coordinateSystems: expected one named "other"`},
		{`"output":{"name":"intrinsic"}`, `"output":{}`, `coordinateSystems: expected one named ""`},
		{`"type":"sequence"`, `"type":"byDimension"`,
			`unsupported coordinateTransformations: expected identity, scale, translation, or a sequence of them, found "byDimension"`},
		{`{"type":"translation","translation":[0,2,2.5]}`, `{"type":"sequence"}`, `found "sequence"`},
		{`"transformations":[`, `"transformations":[7,`, "coordinateTransformations: sequence"},
		{`"coordinateSystems":[`, `"coordinateSystems":[7,`, "coordinateSystems"},
	} {
		if !strings.Contains(image06, c.old) {
			t.Fatalf("%s is not in the attributes", c.old)
		}
		r, err := Recognise(tree(map[string]string{"/": strings.ReplaceAll(image06, c.old, c.new), "s0": zyx,
			"s1": zyx}), ".")
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, expected %q", c.new, err, c.err)
			} else {
				wantFormat(t, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]struct {
			spacing [3]float64
			factor  volume.Factor
		}{"s0": {[3]float64{5000, 4000, 40000}, volume.Factor{1, 1, 1}},
			"s1": {[3]float64{10000, 8000, 40000}, volume.Factor{2, 2, 1}}} {
			m, err := r.Layer.Mag(name)
			if err != nil {
				t.Fatal(err)
			}
			if g, _ := m.CubeGrid(); g.Spacing != want.spacing || g.Origin != (volume.Vec{}) ||
				m.About().Factor != want.factor {
				t.Errorf("%s: got the spacing %v, the origin %v, the factor %v, expected %+v at 0", name, g.Spacing,
					g.Origin, m.About().Factor, want)
			}
		}
	}
}
