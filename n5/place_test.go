package n5

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// TestPlaces: resolutions have the factor, the voxel size and the origin that the metadata of each program give them.
// If these say nothing, sizes of arrays tell the factor.
func TestPlaces(t *testing.T) {
	type files map[string]string // attributes of directories; those of arrays without their first members
	type place struct {
		factor  volume.Factor
		spacing [3]float64
		origin  volume.Vec
	}
	const nm = `,"pixelResolution":{"dimensions":[4,4,40],"unit":"nm"}`
	one, two := volume.Factor{1, 1, 1}, volume.Factor{2, 2, 2}
	fine, coarse := place{factor: one, spacing: [3]float64{4, 4, 40}}, place{factor: two, spacing: [3]float64{8, 8, 80}}
	for _, c := range []struct {
		name   string
		files  files
		s0, s1 place
	}{
		{"nothing", files{"em/s0": "", "em/s1": ""}, place{factor: one}, place{factor: two}},
		{"n5-viewer, arrays", files{"em/s0": nm + `,"downsamplingFactors":[1,1,1]`,
			"em/s1": nm + `,"downsamplingFactors":[2,2,2]`}, fine, coarse},
		{"n5-viewer, only the coarse array", files{"em/s0": "", "em/s1": nm + `,"downsamplingFactors":[2,2,2]`},
			place{factor: one}, coarse},
		{"n5-viewer, root",
			files{"": `,"scales":[[1,1,1],[2,2,2]],"pixelResolution":{"dimensions":[0.004,0.004,0.04],"unit":"µm"}`,
				"em": "", "em/s0": "", "em/s1": ""}, fine, coarse},
		{"n5-viewer, channel", files{"": `,"scales":[[1,1,1],[3,3,3]],"pixelResolution":[7,7,7]`,
			"em": nm + `,"scales":[[1,1,1],[2,2,2]]`, "em/s0": "", "em/s1": ""}, fine, coarse},
		{"BigDataViewer", files{"em": `,"downsamplingFactors":[[1,1,1],[2,2,2]]`,
			"em/t": `,"multiScale":true,"resolution":[4,4,40],"units":["nm"]`, "em/t/s0": "", "em/t/s1": ""}, fine,
			coarse},
		{"sizes of the same voxel", files{"em": nm, "em/s0": nm, "em/s1": nm}, fine, coarse},
		{"OpenOrganelle", files{"em": nm + `,"scales":[[1,1,1],[2,2,2]]`, "em/s0": nm,
			"em/s1": `,"pixelResolution":{"dimensions":[0.008,0.008,0.08],"unit":"um"}`}, fine, coarse},
		{"each its own", files{"em/s0": nm, "em/s1": `,"pixelResolution":{"dimensions":[8,8,80],"unit":"nm"}`}, fine,
			coarse},
		{"Paintera", files{"em": `,"resolution":[4,4,40],"offset":[40,80,-400],"units":["nm"]`, "em/s0": "",
			"em/s1": `,"downsamplingFactors":[2,2,2]`},
			place{one, fine.spacing, volume.Vec{10, 20, -10}}, place{two, coarse.spacing, volume.Vec{5, 10, -5}}},
		{"Paintera, arrays", files{"em/s0": `,"resolution":[4,4,40],"offset":[40,80,-400]`,
			"em/s1": `,"resolution":[4,4,40],"offset":[40,80,-400],"downsamplingFactors":[2,2,2]`},
			place{one, [3]float64{}, volume.Vec{10, 20, -10}}, place{two, [3]float64{}, volume.Vec{5, 10, -5}}},
		{"a plane", files{"em/s0": `,"pixelResolution":{"dimensions":[4,5],"unit":"nm"}`,
			"em/s1": `,"pixelResolution":{"dimensions":[4,5],"unit":"nm"},"downsamplingFactors":[2,2]`},
			place{one, [3]float64{4, 5, 0}, volume.Vec{}}, place{volume.Factor{2, 2, 1}, [3]float64{8, 10, 0},
				volume.Vec{}}},
	} {
		fsys := fstest.MapFS{"attributes.json": &fstest.MapFile{Data: []byte(`{"n5":"2.0.0"}`)}}
		for dir, more := range c.files {
			attributes := `{"n5":"2.0.0"` + more + `}`
			if strings.HasSuffix(dir, "/s0") {
				attributes = strings.Replace(soundArray, `,"blockSize"`, more+`,"blockSize"`, 1)
			}
			if strings.HasSuffix(dir, "/s1") {
				attributes = strings.Replace(strings.Replace(soundArray, `,"blockSize"`, more+`,"blockSize"`, 1),
					"8,9,10", "4,5,5", 1)
			}
			fsys[strings.TrimPrefix(dir+"/attributes.json", "/")] = &fstest.MapFile{Data: []byte(attributes)}
		}
		r, err := Recognise(fsys, ".")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		names, err := r.Dataset.Layers()
		if err != nil || len(names) != 1 {
			t.Fatalf("%s: got the layers %v, %v", c.name, names, err)
		}
		l, err := r.Dataset.Layer(names[0])
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]place{"s0": c.s0, "s1": c.s1} {
			m, err := l.Mag(name)
			if err != nil {
				t.Fatal(err)
			}
			g, err := m.CubeGrid()
			if err != nil {
				t.Fatal(err)
			}
			if got := (place{m.About().Factor, g.Spacing, g.Origin}); got != want {
				t.Errorf("%s: %s: got %v, expected %v", c.name, name, got, want)
			}
		}
	}
}

// TestPlaceOfArray: the pixelResolution of a single array is that at full resolution, as n5-viewer has it.
func TestPlaceOfArray(t *testing.T) {
	attributes := strings.Replace(soundArray, `,"blockSize"`,
		`,"pixelResolution":{"dimensions":[4,4,40],"unit":"nm"},"downsamplingFactors":[2,2,1],"blockSize"`, 1)
	r, err := Recognise(fstest.MapFS{attributesFile: &fstest.MapFile{Data: []byte(attributes)}}, ".")
	if err != nil {
		t.Fatal(err)
	}
	if g, _ := r.Mag.CubeGrid(); g.Spacing != [3]float64{8, 8, 40} || g.Origin != (volume.Vec{}) {
		t.Errorf("got the spacing %v and the origin %v", g.Spacing, g.Origin)
	}
}
