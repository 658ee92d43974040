package zarr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// levels returns a group with an image of two resolutions. image has the members of the image beside its axes.
func levels(image string) map[string]string {
	return map[string]string{
		"/": fmt.Sprintf(
			`{"ome":{"multiscales":[{"axes":[{"name":"z","unit":"nanometer"},{"name":"y","unit":"micrometre"},{"name":"x","unit":"nm"}],%s}]}}`, image),
		"0": zyx, "1": zyx,
	}
}

// TestPlaces: each resolution has the factor, the voxel size and the origin of its transformations, in whatever order
// resolutions are. Without any, sizes tell the factor, and no unit counts.
func TestPlaces(t *testing.T) {
	type place struct {
		factor  volume.Factor
		spacing [3]float64
		origin  volume.Vec
	}
	const fine = `{"path":"0","coordinateTransformations":[{"type":"scale","scale":[40,0.004,4]},{"type":"translation","translation":[400,0.04,0]}]}`
	const coarse = `{"path":"1","coordinateTransformations":[{"type":"scale","scale":[80,0.008,8]},{"type":"translation","translation":[420,0.042,2]}]}`
	placed := []place{
		{volume.Factor{1, 1, 1}, [3]float64{4, 4, 40}, volume.Vec{0, 10, 10}},
		{volume.Factor{2, 2, 2}, [3]float64{8, 8, 80}, volume.Vec{0, 5, 5}},
	}
	for _, c := range []struct {
		name, image string
		want        []place
	}{
		{"in order", `"datasets":[` + fine + `,` + coarse + `]`, placed},
		{"coarse first", `"datasets":[` + coarse + `,` + fine + `]`, placed},
		{"no transformations", `"datasets":[{"path":"0"},{"path":"1"}]`, []place{{factor: volume.Factor{1, 1, 1}},
			{factor: volume.Factor{2, 2, 2}}}},
		{"of the image only",
			`"datasets":[{"path":"0"},{"path":"1"}],"coordinateTransformations":[{"type":"scale","scale":[40,0.004,4]},{"type":"translation","translation":[400,0.04,0]}]`, placed},
		{"the identity",
			`"datasets":[{"path":"0","coordinateTransformations":[{"type":"identity"}]},{"path":"1","coordinateTransformations":[{"type":"identity"}]}]`, []place{
				{volume.Factor{1, 1, 1}, [3]float64{1, 1e3, 1}, volume.Vec{}},
				{volume.Factor{1, 1, 1}, [3]float64{1, 1e3, 1}, volume.Vec{}},
			}},
	} {
		files := tree(levels(c.image))
		small := strings.Replace(string(files["1/zarr.json"].Data), `[8,9,10]`, `[4,5,5]`, 1)
		if files["1/zarr.json"].Data = []byte(small); !strings.Contains(small, `"shape":[4,5,5]`) {
			t.Fatalf("the array is not as expected: %s", small)
		}
		r, err := Recognise(files, ".")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i, want := range c.want {
			m, err := r.Layer.Mag(fmt.Sprint(i))
			if err != nil {
				t.Fatal(err)
			}
			g, _ := m.CubeGrid()
			if got := (place{m.About().Factor, g.Spacing, g.Origin}); got != want {
				t.Errorf("%s: %d: got %v, expected %v", c.name, i, got, want)
			}
		}
		if names, _ := r.Layer.Mags(); names[0] != "0" {
			t.Errorf("%s: got the order %v", c.name, names)
		}
	}
}

// TestNumbersOfTransformations: a scale or translation that has not a number for each axis is refused. It would give
// voxels a wrong size, or none.
func TestNumbersOfTransformations(t *testing.T) {
	for _, transformation := range []string{
		`{"type":"scale","scale":[40,4]}`, `{"type":"scale","scale":[1,40,4,4]}`, `{"type":"scale","path":"scale"}`,
		`{"type":"translation","translation":[]}`,
	} {
		for _, image := range []string{
			`"datasets":[{"path":"0","coordinateTransformations":[` + transformation + `]}]`,
			`"datasets":[{"path":"0"}],"coordinateTransformations":[` + transformation + `]`,
		} {
			_, err := Recognise(tree(levels(image)), ".")
			if err == nil || !strings.Contains(err.Error(), "unsupported coordinateTransformations: expected a ") ||
				!strings.Contains(err.Error(), "with 3 numbers, one for each axis, found ") {
				t.Errorf("%s: got %v", image, err)
			}
		}
	}
}

// TestScaleOfZero: a scale that gives voxels no size is refused. On the axis of channels it says nothing.
func TestScaleOfZero(t *testing.T) {
	for axis, name := range []string{"z", "y", "x"} {
		scale := []string{"40", "4", "4"}
		scale[axis] = "0"
		transformation := fmt.Sprintf(`{"type":"scale","scale":[%s]}`, strings.Join(scale, ","))
		for _, image := range []string{
			`"datasets":[{"path":"0","coordinateTransformations":[` + transformation +
				`]},{"path":"1","coordinateTransformations":[{"type":"scale","scale":[80,8,8]}]}]`,
			`"datasets":[{"path":"0"}],"coordinateTransformations":[` + transformation + `]`,
		} {
			_, err := Recognise(tree(levels(image)), ".")
			want := "zarr.json: metadata: multiscales: coordinateTransformations: scale: expected a size of voxels on axis " + name + ", found 0"
			if err == nil || err.Error() != want {
				t.Errorf("%s: got %v", image, err)
			}
		}
	}
	channels := `{"ome":{"multiscales":[{"axes":[{"name":"c","type":"channel"},{"name":"y"},{"name":"x"}],"datasets":[{"path":"0","coordinateTransformations":[{"type":"scale","scale":[0,4,4]}]}]}]}}`
	if _, err := Recognise(tree(map[string]string{"/": channels, "0": zyx}), "."); err != nil {
		t.Errorf("on the axis of channels: %v", err)
	}
}
