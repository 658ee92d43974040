//go:build browser

package integration

import (
	"encoding/json"
	"image"
	"image/color"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// drawnArray is a group of resolutions that another program wrote. Neuroglancer draws its finest resolution from the
// files, and from the view that wkwfs serves.
type drawnArray struct {
	dir    string   // below the reference data: the source
	layer  string   // in the source, with "/" at its end; "" if the source is the layer
	mag    string   // the finest
	scheme string   // of Neuroglancer for the files
	colors int      // seen at least: few of labels
	planes []string // that are drawn
}

var xyAndXZ, onlyXY = []string{"xy", "xz"}, []string{"xy"}

var drawnArrays = []drawnArray{
	{"ome04_zyx", "", "0", "zarr2", 20, onlyXY},
	{"ome04_czyx", "cells/", "s0", "zarr2", 3, onlyXY},
	{"ome05_zyx", "", "0", "zarr3", 20, xyAndXZ},
	{"ome05_czyx", "cells/", "s0", "zarr3", 3, onlyXY},
	{"wk_zarr3", "color/", "1", "zarr3", 20, xyAndXZ},
	{"wk_zarr3", "segmentation/", "1", "zarr3", 3, onlyXY},
	{"n5_multiscale", "em/", "s0", "n5", 20, xyAndXZ},
}

// name returns the name of pictures.
func (a drawnArray) name() string { return strings.TrimSuffix(a.dir+"_"+a.layer, "/") }

// files returns the directory of the resolutions, below the reference data.
func (a drawnArray) files() string {
	if a.layer == "cells/" {
		return filepath.Join(a.dir, "labels/cells")
	}
	return filepath.Join(a.dir, a.layer)
}

// corner returns where Neuroglancer has the corner of voxel 0 of the files, in voxels. OME-Zarr has its middle at 0.
func (a drawnArray) corner() float64 {
	if a.scheme == "n5" {
		return 0
	}
	return -0.5
}

// described is what volume.json says of a volume.
type described struct {
	Origin    [3]int
	Shape     []int
	VoxelSize [3]float64 `json:"voxel_size"`
}

// drawnPixels is how many pixels the smallest side of a voxel takes.
const drawnPixels = 32

// state returns Neuroglancer's state for a cross section through the middle of a volume, so small that all of it is in
// the volume. The three lowest bytes of a value are the color of its pixels. corner is the position of the corner of
// voxel 0, in voxels.
func (d described) state(t *testing.T, layout, source string, corner float64) string {
	t.Helper()
	dimensions := map[string]any{}
	var center [3]float64
	for i, name := range []string{"x", "y", "z"} {
		dimensions[name] = []any{d.VoxelSize[i] * 1e-9, "m"}
		center[i] = float64(d.Origin[i]+d.Shape[i]/2) + 0.5 + corner
	}
	b, err := json.Marshal(map[string]any{
		"dimensions": dimensions, "position": center, "crossSectionScale": 1. / drawnPixels, "layout": layout,
		"layers": []any{map[string]any{
			"type": "image", "name": "values", "source": source, "opacity": 1, "crossSectionRenderScale": 1,
			"shader": "void main() { highp uint v = toRaw(getDataValue()); emitRGB(vec3(v & 255u, (v >> 8) & 255u, (v >> 16) & 255u) / 255.0); }",
		}},
		"showAxisLines": false, "showScaleBar": false, "showDefaultAnnotations": false,
		"crossSectionBackgroundColor": htmlColor(canvasColor),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// voxels returns the colors in the middle of voxels, by their distance from the voxel in the middle of the picture.
// Only voxels are in it that also fit into a panel of the size of least: panels of the same window differ in height, as
// the bars above them do.
func (d described) voxels(t *testing.T, layout string, got viewResult, least panel) map[image.Point]color.NRGBA {
	t.Helper()
	const margin = 20 // pixels
	side := func(axis byte) float64 {
		return drawnPixels * d.VoxelSize[axis-'x'] / min(d.VoxelSize[0], d.VoxelSize[1], d.VoxelSize[2])
	}
	across, down := side(layout[0]), side(layout[1])
	pixels := got.pixels(t)
	colors := map[image.Point]color.NRGBA{}
	nx, ny := int((least.Width/2-margin)/across), int((least.Height/2-margin)/down)
	for y := -ny; y <= ny; y++ {
		for x := -nx; x <= nx; x++ {
			at := image.Pt(int(got.Panel.Width/2+float64(x)*across), int(got.Panel.Height/2+float64(y)*down))
			colors[image.Pt(x, y)] = pixels[at]
		}
	}
	return colors
}

// TestBrowserArraysAgree: Neuroglancer draws the same voxels at the same places from arrays that other programs wrote
// and from the view of them that wkwfs serves.
func TestBrowserArraysAgree(t *testing.T) {
	root := refdata.Dir(t, "zarr")
	files := http.FileServer(http.Dir(root))
	static := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		files.ServeHTTP(w, r)
	}))
	defer static.Close()
	viewer := viewerPage(t)
	var requests []viewRequest
	volumes := map[string]described{}
	for _, a := range drawnArrays {
		web := startWeb(t, nil, "--listen", "127.0.0.1:0", "--neuroglancer", viewer, filepath.Join(root, a.dir))
		defer web.end(t, syscall.SIGTERM)
		var d described
		_, b := web.get(t, a.layer+a.mag+"/volume.json")
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatalf("%s: %v: %s", a.name(), err, b)
		}
		volumes[a.name()] = d
		for _, layout := range a.planes {
			for from, state := range map[string]string{
				"files": d.state(t, layout, a.scheme+"://"+static.URL+"/"+a.files(), a.corner()),
				"view":  d.state(t, layout, "precomputed://"+web.url+a.layer+"precomputed/", 0),
			} {
				requests = append(requests, viewRequest{Name: a.name() + "_" + layout + "_" + from,
					URL: viewer + "#!" + url.PathEscape(state)})
			}
		}
	}
	drawn := map[string]viewResult{}
	for i, got := range drive(t, requests) {
		drawn[requests[i].Name] = got
	}
	for _, a := range drawnArrays {
		for _, layout := range a.planes {
			t.Run(a.name()+"_"+layout, func(t *testing.T) {
				files, view := drawn[a.name()+"_"+layout+"_files"], drawn[a.name()+"_"+layout+"_view"]
				files.Problems = withoutAbsentFiles(files.Problems, static.URL)
				files.check(t, "values")
				view.check(t, "values")
				d := volumes[a.name()]
				least := panel{Width: min(files.Panel.Width, view.Panel.Width),
					Height: min(files.Panel.Height, view.Panel.Height)}
				want, got := d.voxels(t, layout, files, least), d.voxels(t, layout, view, least)
				if !maps.Equal(got, want) {
					t.Errorf("%d voxels of %s and %d of %s differ", len(want), files.Screenshot, len(got),
						view.Screenshot)
				}
				colors := map[color.NRGBA]bool{}
				for _, p := range got {
					colors[p] = true
				}
				if len(got) < 20 || len(colors) < a.colors || colors[canvasColor] {
					t.Errorf("%d voxels, %d colors, background seen: %v; want at least 20, %d, none", len(got),
						len(colors), colors[canvasColor], a.colors)
				}
			})
		}
	}
}

// withoutAbsentFiles removes the problems that are files that do not exist: Neuroglancer looks for metadata of several
// kinds, and for chunks that were never written.
func withoutAbsentFiles(problems []string, site string) (others []string) {
	for _, p := range problems {
		if !strings.Contains(p, site) || !strings.Contains(p, "404") {
			others = append(others, p)
		}
	}
	return others
}
