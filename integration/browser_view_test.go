//go:build browser

package integration

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// viewState is the part of Neuroglancer's state that these tests look at.
type viewState struct {
	Dimensions map[string][2]any
	Position   [3]float64
	Scale      float64 `json:"crossSectionScale"`
	Layers     []struct {
		Type, Name string
		Controls   map[string]struct{ Range [2]any } `json:"shaderControls"`
	}
}

// looks are the points at which voxels are compared: in the middle plane, which is visible.
var looks = [][3]int{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-2, 3, 0}, {4, -3, 0}}

// look opens a source with wkwfs view, without a display.
func look(t *testing.T, args ...string) *webServer {
	t.Helper()
	s := startServer(t, []string{"DISPLAY=", "WAYLAND_DISPLAY="}, append([]string{"view"}, args...)...)
	if !strings.HasSuffix(s.url, "/"+viewerPath) || !strings.HasPrefix(s.query, "token=") {
		t.Fatalf("wkwfs view printed %s?%s", s.url, s.query)
	}
	return s
}

// tree requests a path of the tree.
func (s *webServer) tree(t *testing.T, path string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "GET",
		strings.TrimSuffix(s.url, viewerPath)+path+"?"+s.query, nil)
	if err != nil {
		t.Fatal(err)
	}
	reply := &webServer{url: request.URL.String()}
	response, body := reply.get(t, "")
	if response.StatusCode != 200 {
		t.Fatalf("%s: status %d: %s", path, response.StatusCode, body)
	}
	return body
}

// checkFit checks that the view shows all of a box, in voxels, and that the box fills half of a cross section or more.
func (r viewResult) checkFit(t *testing.T, lo, size [3]int, nm [3]float64) {
	t.Helper()
	smallest := min(nm[0], nm[1], nm[2])
	for i, name := range []string{"x", "y", "z"} {
		if got, ok := r.State.Dimensions[name][0].(float64); !ok || math.Abs(got*1e9/nm[i]-1) > 1e-6 ||
			r.State.Dimensions[name][1] != "m" {
			t.Errorf("dimension %s is %v, want %v nm", name, r.State.Dimensions[name], nm[i])
		}
		if want := math.Floor(float64(lo[i])+float64(size[i])/2) + 0.5; r.State.Position[i] != want {
			t.Errorf("position %v, want %v on axis %d", r.State.Position, want, i)
		}
	}
	var sides [3]float64
	for i := range sides {
		sides[i] = float64(size[i]) * nm[i] / smallest / r.State.Scale // pixels
	}
	across, down := max(sides[0], sides[2]), max(sides[1], sides[2])
	if across > r.Panel.Width || down > r.Panel.Height || across < r.Panel.Width/2 && down < r.Panel.Height/2 {
		t.Errorf("the data has %.0f × %.0f of %.0f × %.0f pixels", across, down, r.Panel.Width, r.Panel.Height)
	}
}

// TestBrowserViewTypes: wkwfs view shows images and segmentations of all types, in the middle of the data, zoomed to
// fit. Neuroglancer has the value of each voxel.
func TestBrowserViewTypes(t *testing.T) {
	ramps := []ramp{
		{"uint8", "color", 1, 20}, {"uint16", "color", 1, 30_000}, {"uint32", "color", 1, 4e9},
		{"uint64", "color", 1, 1 << 40},
		{"int8", "color", 1, -100}, {"int16", "color", 1, -30_000}, {"int32", "color", 1, -2e9},
		{"float32", "color", 1, -0.5},
		{"uint8", "color", 3, 10}, {"uint16", "color", 2, 500},
		{"uint8", "segmentation", 1, 1}, {"uint16", "segmentation", 1, 40_000}, {"uint32", "segmentation", 1, 4e9},
		{"uint64", "segmentation", 1, 1 << 40},
		{"float64", "color", 1, 0}, {"int64", "color", 1, 0}, // not in Neuroglancer
	}
	const shown = 14
	dataset := filepath.Join(tempDir(t), "types")
	var names []string
	for i, r := range ramps {
		name := fmt.Sprintf("l%02d", i)
		r.write(t, dataset, name)
		names = append(names, name)
	}
	s := look(t, dataset)
	got := drive(t, []viewRequest{{Name: "view_types", URL: s.url + "?" + s.query, Size: []int{1000, 800},
		Points: looks}})[0]
	s.end(t, syscall.SIGINT)
	got.check(t, names[:shown]...)
	got.checkFit(t, rampOffset, rampSize, rampNM)
	for i, r := range ramps[:shown] {
		r.compare(t, got, i)
	}
}

// TestBrowserViewSources: wkwfs view shows all kinds of sources and mags. Neuroglancer has the voxels that the server
// has.
func TestBrowserViewSources(t *testing.T) {
	root := refdata.Dir(t, ".")
	sample := filepath.Join(root, "l4_sample")
	ramped := filepath.Join(tempDir(t), "ramped")
	ramp{"uint8", "color", 1, 20}.write(t, ramped, "color")
	tests := []struct {
		name   string
		args   []string
		layers []string // with their paths in the tree
		mag    string
	}{
		{"dataset", []string{sample}, []string{"color=color/", "segmentation=segmentation/"}, "4-4-2"},
		{"layer", []string{sample, "--layer", "segmentation"}, []string{"segmentation=segmentation/"}, "4-4-2"},
		{"mag", []string{filepath.Join(sample, "color/4-4-2")}, []string{"4-4-2="}, "4-4-2"},
		{"cube", []string{filepath.Join(ramped, "color/1/z0/y0/x1.wkw")}, []string{"x1.wkw="}, "1"},
		{"precomputed", []string{filepath.Join(root, "precomputed/jpeg_gray")}, []string{"jpeg_gray="}, ""},
		{"n5", []string{filepath.Join(root, "zarr/n5_multiscale"), "--mag", "s0"}, []string{"em=em/"}, "s0"},
		{"zarr", []string{filepath.Join(root, "zarr/ome05_zyx"), "--mag", "1"}, []string{"ome05_zyx="}, "1"},
		{"pyramid", []string{filepath.Join(root, "sources/ome_pyramid.ome.tif"), "--mag", "2-2-1"},
			[]string{"ome_pyramid.ome.tif="}, "2-2-1"},
	}
	var servers []*webServer
	var requests []viewRequest
	for _, test := range tests {
		s := look(t, test.args...)
		servers = append(servers, s)
		requests = append(requests, viewRequest{Name: "view_" + test.name, URL: s.url + "?" + s.query, Points: looks})
	}
	for i, got := range drive(t, requests) {
		test, s := tests[i], servers[i]
		t.Run(test.name, func(t *testing.T) {
			var names []string
			for _, l := range test.layers {
				name, _, _ := strings.Cut(l, "=")
				names = append(names, name)
			}
			got.check(t, names...)
			for i, l := range test.layers {
				_, dir, _ := strings.Cut(l, "=")
				if test.mag == "" {
					var entries []struct{ Name string }
					if err := json.Unmarshal(s.tree(t, dir), &entries); err != nil {
						t.Fatal(err)
					}
					test.mag = entries[0].Name
				}
				compareLooks(t, s, dir+test.mag, got, i)
			}
			s.end(t, syscall.SIGINT)
		})
	}
}

// compareLooks compares the values of a layer with those of the mag at a path of the server.
func compareLooks(t *testing.T, s *webServer, mag string, got viewResult, layer int) {
	t.Helper()
	var about struct {
		Dtype         string
		Channels      int
		Origin, Shape [3]int
		VoxelSize     *[3]float64 `json:"voxel_size"`
	}
	if err := json.Unmarshal(s.tree(t, mag+"/volume.json"), &about); err != nil {
		t.Fatal(err)
	}
	nm := [3]float64{1, 1, 1}
	if about.VoxelSize != nil {
		nm = *about.VoxelSize
	}
	got.checkFit(t, about.Origin, about.Shape, nm)
	distinct := map[string]bool{}
	for p, point := range looks {
		var at [3]int
		for i := range at {
			at[i] = int(math.Floor(got.State.Position[i])) + point[i]
		}
		raw := s.tree(t, fmt.Sprintf("%s/box/%d-%d_%d-%d_%d-%d.raw", mag, at[0], at[0]+1, at[1], at[1]+1, at[2],
			at[2]+1))
		var values []string
		for value := range slices.Chunk(raw, len(raw)/max(1, about.Channels)) {
			values = append(values, fmt.Sprint(binary.LittleEndian.Uint64(append(slices.Clone(value),
				make([]byte, 8)...))))
		}
		want := strings.Join(values, ",")
		if got.Values[layer][p] != want {
			t.Errorf("%s at %v: Neuroglancer has %s, want %s", mag, at, got.Values[layer][p], want)
		}
		distinct[want] = true
	}
	if len(distinct) == 1 && distinct["0"] {
		t.Errorf("%s: all voxels that were compared are 0", mag)
	}
}

// TestBrowserSites: scripts of another site can read from a server only if it lets them.
func TestBrowserSites(t *testing.T) {
	dir := dataset(t)
	const site = "https://other.example"
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"--allow-origin", site}, site},
		{[]string{"--allow-origin", "*"}, "*"},
		{[]string{"--neuroglancer", site + "/ng/"}, site},
		{[]string{"--neuroglancer", "https://third.example/"}, ""},
	} {
		s := startWeb(t, nil, append(test.args, "--listen", "127.0.0.1:0", dir)...)
		response, _ := s.get(t, "", "Origin", site)
		if got := response.Header.Get("Access-Control-Allow-Origin"); got != test.want {
			t.Errorf("%q: Access-Control-Allow-Origin is %q, want %q", test.args, got, test.want)
		}
		s.end(t, syscall.SIGTERM)
	}
}

// picture is where TestBrowserPicture writes the first picture of README.md.
var picture = flag.String("browser.picture", "", "write the picture of wkwfs view to this file")

// TestBrowserPicture takes the first picture of README.md: the sample in wkwfs view. It is small enough for a
// repository.
func TestBrowserPicture(t *testing.T) {
	dataset := filepath.Join(tempDir(t), "cortex")
	writeSample(t, dataset)
	s := look(t, dataset)
	got := drive(t, []viewRequest{{Name: "picture", URL: s.url + "?" + s.query, Size: []int{1200, 760},
		Points: looks[:1]}})[0]
	s.end(t, syscall.SIGINT)
	got.check(t, "color", "segmentation")
	b, err := os.ReadFile(got.Screenshot)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 300<<10 {
		t.Errorf("the picture has %d bytes, want at most 300 KiB", len(b))
	}
	if *picture != "" {
		writeFile(t, *picture, b)
	}
}
