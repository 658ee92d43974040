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

// section is what a cross section through a layer shows.
type section struct {
	layer  stack
	layout string
	// across and down are the axes of the picture, to the right and downward.
	across, down axis
	center       [3]float64 // voxels of mag 1
	scale        float64    // of the smallest voxel, for a pixel
}

// axis is that of x, y or z, and its direction.
type axis struct {
	of        int
	direction float64
}

// sections are one across each axis, through the middle of a voxel; of a coarse mag
// one alone.
func (s stack) sections() []section {
	x, y, z := axis{0, 1}, axis{1, 1}, axis{2, 1}
	back := axis{2, -1}
	all := []section{
		{s, "xy", x, y, [3]float64{46, 55, 31.5}, 1. / 8},
		{s, "xz", x, z, [3]float64{46, 50.5, 33}, 1. / 6},
		{s, "yz", back, y, [3]float64{30.5, 55, 33}, 1. / 6},
	}
	if s.mag != "1" {
		return all[:1]
	}
	return all
}

func (s section) name() string {
	return fmt.Sprintf("%s_%s_%s", s.layer.name, s.layer.mag, s.layout)
}

// state is Neuroglancer's state that shows the section, and nothing else.
func (s section) state(t *testing.T, place string) string {
	t.Helper()
	layer := map[string]any{
		"type": "image", "name": s.layer.name, "source": "precomputed://" + place + s.layer.name + "/precomputed/",
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

// segments are the colors of all segments in the section.
func (s section) segments() map[string]string {
	colors := map[string]string{}
	through := 3 - s.across.of - s.down.of
	lo, hi := s.layer.min, s.layer.max()
	lo[through] = int(s.center[through]) / s.layer.factor[through]
	hi[through] = lo[through] + 1
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

// compare holds every pixel to its voxel.
func (s section) compare(t *testing.T, got shown) {
	t.Helper()
	seen, shifted := map[[3]int]bool{}, [3]int{}
	wrong := 0
	for at, pixel := range got.pixels(t) {
		place := s.place(at, got.Panel)
		v, sharp := s.voxel(place)
		if !sharp {
			continue
		}
		if !inLayer(place) {
			// Around the layer, zeros fill blocks.
			if pixel != canvasColor && pixel != (color.NRGBA{A: 255}) && s.layer.mag == "1" {
				t.Fatalf("pixel %v, outside of the layer at %v, is %v", at, place, pixel)
			}
			continue
		}
		if want := s.layer.shown(s.layer.at(v)); pixel != want {
			if wrong++; wrong < 10 {
				t.Errorf("pixel %v, at voxel %v, is %v, want %v", at, v, pixel, want)
			}
		}
		if seen[v] {
			continue
		}
		seen[v] = true
		for i := range shifted {
			next := v
			if next[i]++; s.layer.shown(s.layer.at(next)) != pixel {
				shifted[i]++
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d pixels are wrong", wrong)
	}
	t.Logf("%d voxels; a shift by one would be seen at %v of them", len(seen), shifted)
	if least := s.visible(got.Panel); len(seen) < least || slices.Min(shifted[:]) < least/4 {
		t.Errorf("compared %d voxels, and would see a shift at %v of them; want %d and a quarter of them", len(seen), shifted, least)
	}
}

// nm is the length of a side of a pixel.
func (s section) nm() float64 { return s.scale * slices.Min(nanometers[:]) }

// place returns where the middle of a pixel lies, in voxels of mag 1; the middle of
// the panel is the center.
func (s section) place(at image.Point, p panel) [3]float64 {
	place := s.center
	place[s.across.of] += s.across.direction * (float64(at.X) + 0.5 - p.Width/2) * s.nm() / nanometers[s.across.of]
	place[s.down.of] += s.down.direction * (float64(at.Y) + 0.5 - p.Height/2) * s.nm() / nanometers[s.down.of]
	return place
}

// voxel returns the voxel of the mag at a place; false within a pixel of the border of
// voxels, where rounding decides.
func (s section) voxel(place [3]float64) (v [3]int, sharp bool) {
	sharp = true
	for i, x := range place {
		size := nanometers[i] * float64(s.layer.factor[i])
		x /= float64(s.layer.factor[i])
		v[i] = int(math.Floor(x))
		margin := 0.75 * s.nm() / size
		sharp = sharp && x-float64(v[i]) > margin && float64(v[i])+1-x > margin
	}
	return v, sharp
}

// visible is how many voxels of the layer lie in the panel entirely.
func (s section) visible(p panel) int {
	corners := [2][3]float64{s.place(image.Pt(0, 0), p), s.place(image.Pt(int(p.Width)-1, int(p.Height)-1), p)}
	n := 1
	for _, i := range []int{s.across.of, s.down.of} {
		lo, hi := min(corners[0][i], corners[1][i]), max(corners[0][i], corners[1][i])
		lo, hi = max(lo, float64(layerMin[i])), min(hi, float64(layerMin[i]+layerSize[i]))
		factor := float64(s.layer.factor[i])
		n *= int(math.Floor(hi/factor) - math.Ceil(lo/factor))
	}
	return n
}
