//go:build browser

package integration

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"testing"
)

// section is a cross section through a layer, as Neuroglancer draws it.
type section struct {
	layer  stack
	layout string
	// across and down are the axes of the picture: to the right, and downward.
	across, down axis
	center       [3]float64 // voxels of mag 1
	scale        float64    // side of a pixel, in sides of the smallest voxel
}

// axis is an axis of the volume and a direction on it.
type axis struct {
	index     int     // 0, 1, 2: x, y, z
	direction float64 // 1 or −1
}

// sections returns one section across each axis, through the middle of a voxel. For a coarse mag it returns
// only the first.
func (s stack) sections() []section {
	x, y, z := axis{0, 1}, axis{1, 1}, axis{2, 1}
	back := axis{2, -1}
	sections := []section{
		{s, "xy", x, y, [3]float64{46, 55, 31.5}, 1. / 8},
		{s, "xz", x, z, [3]float64{46, 50.5, 33}, 1. / 6},
		{s, "yz", back, y, [3]float64{30.5, 55, 33}, 1. / 6},
	}
	if s.mag != "1" {
		return sections[:1]
	}
	return sections
}

func (s section) name() string {
	return fmt.Sprintf("%s_%s_%s", s.layer.name, s.layer.mag, s.layout)
}

// state returns Neuroglancer's state for a view that shows only the section, of a layer that wkwfs serves.
func (s section) state(t *testing.T, url string) string {
	t.Helper()
	return s.stateOf(t, "precomputed://"+url+s.layer.name+"/precomputed/")
}

// stateOf is state for a source of the layer.
func (s section) stateOf(t *testing.T, source string) string {
	t.Helper()
	layer := map[string]any{
		"type": "image", "name": s.layer.name, "source": source,
		"shader": s.layer.shader, "opacity": 1,
		"crossSectionRenderScale": map[string]float64{"1": 1, "2-2-1": 64}[s.layer.mag],
	}
	if s.layer.category == "segmentation" {
		layer["type"], layer["segmentColors"] = "segmentation", s.segments()
		layer["selectedAlpha"], layer["hoverHighlight"] = 1, false
		delete(layer, "shader")
	}
	dimensions := map[string]any{}
	for i, name := range []string{"x", "y", "z"} {
		dimensions[name] = []any{nanometers[i] * 1e-9, "m"}
	}
	b, err := json.Marshal(map[string]any{
		"dimensions": dimensions, "position": s.center, "crossSectionScale": s.scale, "layout": s.layout,
		"layers": []any{layer}, "showAxisLines": false, "showScaleBar": false, "showDefaultAnnotations": false,
		"crossSectionBackgroundColor": htmlColor(canvasColor),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// segments returns the colors of all segments in the section, by their number.
func (s section) segments() map[string]string {
	colors := map[string]string{}
	across := 3 - s.across.index - s.down.index
	lo, hi := s.layer.min, s.layer.max()
	lo[across] = int(s.center[across]) / s.layer.factor[across]
	hi[across] = lo[across] + 1
	for z := lo[2]; z < hi[2]; z++ {
		for y := lo[1]; y < hi[1]; y++ {
			for x := lo[0]; x < hi[0]; x++ {
				v := s.layer.at([3]int{x, y, z})
				colors[fmt.Sprint(segment(v))] = htmlColor(segmentColor(v))
			}
		}
	}
	return colors
}

func htmlColor(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// compare compares every pixel with its voxel. It also checks that a picture that is differing by one voxel would
// fail.
func (s section) compare(t *testing.T, got viewResult) {
	t.Helper()
	seen, differing := map[[3]int]bool{}, [3]int{}
	wrong := 0
	for at, pixel := range got.pixels(t) {
		position := s.position(at, got.Panel)
		v, sharp := s.voxel(position)
		if !sharp {
			continue
		}
		if !inLayer(position) {
			// Zeros fill the blocks at the border of the layer.
			if pixel != canvasColor && pixel != (color.NRGBA{A: 255}) && s.layer.mag == "1" {
				t.Fatalf("pixel %v, outside of the layer at %v, is %v", at, position, pixel)
			}
			continue
		}
		if want := s.layer.color(s.layer.at(v)); pixel != want {
			if wrong++; wrong < 10 {
				t.Errorf("pixel %v, at voxel %v, is %v, want %v", at, v, pixel, want)
			}
		}
		if seen[v] {
			continue
		}
		seen[v] = true
		for i := range differing {
			next := v
			if next[i]++; s.layer.color(s.layer.at(next)) != pixel {
				differing[i]++
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d pixels are wrong", wrong)
	}
	t.Logf("%d voxels; a shift by one voxel on each axis would change %v of them", len(seen), differing)
	if least := s.visible(got.Panel); len(seen) < least || slices.Min(differing[:]) < least/4 {
		t.Errorf("compared %d voxels, and a shift would change %v of them; want %d voxels and a quarter of them",
			len(seen), differing, least)
	}
}

// nm returns the side of a pixel in nanometers.
func (s section) nm() float64 { return s.scale * slices.Min(nanometers[:]) }

// position returns the middle of a pixel, in voxels of mag 1. The middle of the panel is s.center.
func (s section) position(at image.Point, p panel) [3]float64 {
	position := s.center
	position[s.across.index] += s.across.direction * (float64(at.X) +
		0.5 - p.Width/2) * s.nm() / nanometers[s.across.index]
	position[s.down.index] += s.down.direction * (float64(at.Y) + 0.5 - p.Height/2) * s.nm() / nanometers[s.down.index]
	return position
}

// voxel returns the voxel of the mag at a position. sharp is false within a pixel of the border of two voxels,
// where rounding decides.
func (s section) voxel(position [3]float64) (v [3]int, sharp bool) {
	sharp = true
	for i, x := range position {
		size := nanometers[i] * float64(s.layer.factor[i])
		x /= float64(s.layer.factor[i])
		v[i] = int(math.Floor(x))
		margin := 0.75 * s.nm() / size
		sharp = sharp && x-float64(v[i]) > margin && float64(v[i])+1-x > margin
	}
	return v, sharp
}

// visible returns the number of voxels of the layer that are completely in the panel.
func (s section) visible(p panel) int {
	corners := [2][3]float64{s.position(image.Pt(0, 0), p), s.position(image.Pt(int(p.Width)-1, int(p.Height)-1), p)}
	n := 1
	for _, i := range []int{s.across.index, s.down.index} {
		lo, hi := min(corners[0][i], corners[1][i]), max(corners[0][i], corners[1][i])
		lo, hi = max(lo, float64(layerMin[i])), min(hi, float64(layerMin[i]+layerSize[i]))
		factor := float64(s.layer.factor[i])
		n *= int(math.Floor(hi/factor) - math.Ceil(lo/factor))
	}
	return n
}
