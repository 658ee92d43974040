//go:build browser

package integration

import (
	"encoding/binary"
	"encoding/json"
	"image/color"
	"net/url"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// nanometers is the size of a voxel of mag 1. The smallest of them is the unit of Neuroglancer's scale.
var nanometers = [3]float64{4, 5, 60}

// layerMin and layerSize are the box of all layers, in voxels of mag 1. It is aligned neither to blocks nor to
// cubes.
var layerMin, layerSize = [3]int{21, 35, 18}, [3]int{50, 40, 30}

// canvasColor is the background color of Neuroglancer in these tests.
var canvasColor = color.NRGBA{R: 40, G: 70, B: 200, A: 255}

// viewerPath is the path of the viewer's page on a server.
const viewerPath = ".wkwfs/viewer/"

// TestBrowserVoxels checks the layers that wkwfs serves, as its Neuroglancer draws them in Chromium. Each pixel has
// the color of its voxel. Colors are chosen so that a color identifies a value.
func TestBrowserVoxels(t *testing.T) {
	source := t.TempDir()
	layers := neuroglancerLayers()
	for _, l := range layers {
		l.write(t, source)
	}
	writeProperties(t, source, layers)
	web := startWeb(t, nil, "--listen", "127.0.0.1:0", source)
	var sections []section
	var requests []viewRequest
	for _, l := range layers {
		for _, s := range l.sections() {
			sections = append(sections, s)
			requests = append(requests, viewRequest{Name: s.name(),
				URL: web.url + viewerPath + "#!" + url.PathEscape(s.state(t, web.url))})
		}
	}
	answers := drive(t, requests)
	web.end(t, syscall.SIGTERM)
	for i, got := range answers {
		t.Run(requests[i].Name, func(t *testing.T) {
			got.check(t, sections[i].layer.name)
			sections[i].compare(t, got)
		})
	}
}

// TestBrowserStartPage checks that the link on the start page opens all layers in Neuroglancer, also with a
// token, and also in a Neuroglancer of another site.
func TestBrowserStartPage(t *testing.T) {
	source := filepath.Join(t.TempDir(), "cortex")
	writeSample(t, source)
	viewer := viewerPage(t)
	const token = "b0a1c2d3"
	for _, test := range []struct {
		name, query string
		args        []string
	}{
		{"start", "", nil},
		{"start_with_token", "?token=" + token, []string{"--token", token}},
		{"start_elsewhere", "?token=" + token, []string{"--token", token, "--neuroglancer", viewer}},
	} {
		t.Run(test.name, func(t *testing.T) {
			web := startWeb(t, nil, append(test.args, "--listen", "127.0.0.1:0", source)...)
			got := drive(t, []viewRequest{{Name: test.name, URL: web.url + test.query, Link: "header a"}})[0]
			web.end(t, syscall.SIGTERM)
			got.check(t, "color", "segmentation")
			colorful := map[color.NRGBA]bool{}
			for _, p := range got.pixels(t) {
				if p.R != p.G || p.G != p.B {
					colorful[p] = true
				}
			}
			if len(colorful) < 100 {
				t.Errorf("%d colors are not gray, want at least 100 from segments over the image", len(colorful))
			}
		})
	}
}

// stack is a mag of a layer whose cubes all differ, with the colors of its voxels.
type stack struct {
	layer
	name, mag, category string
	factor              [3]int                         // voxels of mag 1 in a voxel, on each axis
	shader              string                         // only of images
	color               func(voxel []byte) color.NRGBA // in which Neuroglancer draws a voxel
}

// neuroglancerLayers returns layers of two mags. The mags have different voxels, so that each pixel shows its
// mag.
func neuroglancerLayers() []stack {
	small := model{blockLog: 2, cubeLog: 2, blockType: 2, channels: 1} // cubes of 16³
	wide := model{blockLog: 4, cubeLog: 0, blockType: 3, channels: 1}
	gray := func(v []byte) color.NRGBA { return color.NRGBA{v[0], v[0], v[0], 255} }
	image := func(name string, m model, voxelType, channels int, shader string, color func([]byte) color.NRGBA) stack {
		m.voxelType, m.channels = voxelType, channels
		return stack{layer: layer{model: m}, name: name, category: "color", shader: "void main() { " + shader + " }",
			color: color}
	}
	segmentation := func(name string, m model, voxelType int) stack {
		m.voxelType = voxelType
		return stack{layer: layer{model: m}, name: name, category: "segmentation", color: segmentColor}
	}
	var stacks []stack
	for _, s := range []stack{
		image("gray", small, 1, 1, "emitGrayscale(toNormalized(getDataValue()));", gray),
		image("gray16", wide, 2, 1,
			"uint v = toRaw(getDataValue()); emitRGB(vec3(float(v & 255u), float(v >> 8), 0.0) / 255.0);",
			func(v []byte) color.NRGBA { return color.NRGBA{v[0], v[1], 0, 255} }),
		image("rgb", small, 1, 3,
			"emitRGB(vec3(toNormalized(getDataValue(0)), toNormalized(getDataValue(1)), toNormalized(getDataValue(2))));",
			func(v []byte) color.NRGBA { return color.NRGBA{v[0], v[1], v[2], 255} }),
		segmentation("segments32", wide, 3),
		segmentation("segments64", small, 4),
	} {
		s.seed = uint32(len(stacks)) << 16
		fine, coarse := s, s
		fine.mag, fine.factor, fine.min, fine.size = "1", [3]int{1, 1, 1}, layerMin, layerSize
		coarse.mag, coarse.factor, coarse.min, coarse.size = "2-2-1", [3]int{2, 2, 1}, [3]int{10, 17, 18},
			[3]int{26, 21, 30}
		coarse.seed ^= 1 << 22
		stacks = append(stacks, fine.filled(), coarse.filled())
	}
	return stacks
}

// filled returns the stack with cubes in all of its box, except each fifth.
func (s stack) filled() stack {
	s.cubes = map[[3]int]bool{}
	side, n := s.side(), 0
	for z := s.min[2] / side; z*side < s.max()[2]; z++ {
		for y := s.min[1] / side; y*side < s.max()[1]; y++ {
			for x := s.min[0] / side; x*side < s.max()[0]; x++ {
				if n++; n%5 != 0 {
					s.cubes[[3]int{x, y, z}] = true
				}
			}
		}
	}
	return s
}

// withSeedOf returns the stack with the seed of cube c.
func (s stack) withSeedOf(c [3]int) stack {
	s.seed += uint32(c[0]+5*c[1]+25*c[2]) * 2654435769
	return s
}

// write writes the cubes and the header of the mag.
func (s stack) write(t *testing.T, source string) {
	t.Helper()
	s.writeHeader(t, filepath.Join(source, s.name, s.mag))
	for c := range s.cubes {
		s.withSeedOf(c).model.write(t, filepath.Join(source, s.name, s.mag), c[0], c[1], c[2])
	}
}

// at returns the voxel at x, y, z of the mag.
func (s stack) at(v [3]int) []byte {
	side := s.side()
	return s.withSeedOf([3]int{v[0] / side, v[1] / side, v[2] / side}).voxel(v[0], v[1], v[2])
}

// inLayer reports whether a position, in voxels of mag 1, is in the layer.
func inLayer(position [3]float64) bool {
	for i, x := range position {
		if x -= float64(layerMin[i]); x < 0 || x >= float64(layerSize[i]) {
			return false
		}
	}
	return true
}

// writeProperties writes datasource-properties.json.
func writeProperties(t *testing.T, source string, stacks []stack) {
	t.Helper()
	var layers []map[string]any
	for _, s := range stacks {
		if s.mag == "1" {
			layers = append(layers, map[string]any{"name": s.name, "category": s.category,
				"boundingBox": map[string]any{
					"topLeft": s.min, "width": s.size[0], "height": s.size[1], "depth": s.size[2]}})
		}
	}
	b, err := json.Marshal(map[string]any{"scale": map[string]any{"factor": nanometers, "unit": "nanometer"},
		"dataLayers": layers})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(source, "datasource-properties.json"), b)
}

// segmentColor returns the color of a segment in these tests. Segment 0 is the background.
func segmentColor(voxel []byte) color.NRGBA {
	id := segment(voxel)
	if id == 0 {
		return canvasColor
	}
	h := id * 0x9E3779B97F4A7C15
	return color.NRGBA{uint8(h >> 56), uint8(h >> 48), uint8(h >> 40), 255}
}

// segment returns the number of a segment.
func segment(voxel []byte) uint64 {
	return binary.LittleEndian.Uint64(append(slices.Clone(voxel), make([]byte, 8)...))
}
