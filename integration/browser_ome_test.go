//go:build browser

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestBrowserZarritaOME: zarrita reads the voxels of each mag from ome.zarr and ome-v3.zarr, from a mount and from a
// server, over HTTP.
func TestBrowserZarritaOME(t *testing.T) {
	var boxes []zarritaBox
	var names, want []string
	for _, source := range []string{"wkw/sides_b32_f1", "wkw/sparse", "wkw/rgb", "wkw/two_channels", "wkw/type_int64",
		"wkw/type_double", "l4_sample"} {
		dir, ok := refdata.Path(source)
		if !ok {
			continue // data of a real microscope
		}
		mounted := mount(t, dir)
		files := httptest.NewServer(http.FileServer(http.Dir(mounted)))
		defer files.Close()
		server := startWeb(t, nil, "--listen", "127.0.0.1:0", dir)
		defer server.end(t, syscall.SIGTERM)
		found, err := filepath.Glob(filepath.Join(mounted, "*/*/volume.json"))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", source, err)
		}
		for _, description := range found {
			mag := filepath.Dir(description)
			layer, name := filepath.Base(filepath.Dir(mag)), filepath.Base(mag)
			axes, box := boxOf(t, description)
			for _, at := range []string{files.URL + "/", server.url} {
				for _, form := range []string{"ome.zarr", "ome-v3.zarr"} {
					boxes = append(boxes, zarritaBox{at + layer + "/" + form + "/" + name, axes, box})
					names = append(names, fmt.Sprintf("%s/%s/%s/%s at %s", source, layer, form, name, at))
					want = append(want, sumOf(t, filepath.Join(mag, "volume.raw")))
				}
			}
		}
	}
	for i, got := range zarrita(t, boxes) {
		if got != want[i] {
			t.Errorf("%s: zarrita reads voxels with the hash %s, wkwfs with %s", names[i], got, want[i])
		}
	}
}

// boxOf returns the axes of a mag as OME-Zarr, and its box.
func boxOf(t *testing.T, description string) (axes []string, box map[string][2]int) {
	t.Helper()
	var about struct {
		Origin, Shape [3]int
		Channels      int
	}
	b, err := os.ReadFile(description)
	if err == nil {
		err = json.Unmarshal(b, &about)
	}
	if err != nil {
		t.Fatal(err)
	}
	box = map[string][2]int{}
	for i, axis := range []string{"x", "y", "z"} {
		box[axis] = [2]int{about.Origin[i], about.Origin[i] + about.Shape[i]}
	}
	if axes = []string{"z", "y", "x"}; about.Channels > 1 {
		axes = slices.Insert(axes, 0, "c")
	}
	return axes, box
}

// TestBrowserOME: Neuroglancer draws each voxel at its place from ome.zarr and ome-v3.zarr. Mag 1 is alone in its
// dataset: where it ends, Neuroglancer draws voxels of a coarser level, which may end later.
func TestBrowserOME(t *testing.T) {
	fine, both := t.TempDir(), t.TempDir()
	layers := neuroglancerLayers()
	for _, l := range layers {
		l.write(t, both)
		if l.mag == "1" {
			l.write(t, fine)
		}
	}
	writeProperties(t, fine, layers)
	writeProperties(t, both, layers)
	viewer := viewerPage(t)
	servers := map[string]*webServer{}
	for mag, dir := range map[string]string{"1": fine, "2-2-1": both} {
		servers[mag] = startWeb(t, nil, "--listen", "127.0.0.1:0", "--neuroglancer", viewer, dir)
	}
	var sections []section
	var requests []viewRequest
	for _, l := range layers {
		// stored blocks of an image, and decoded ones of a segmentation
		if l.name != "gray16" && l.name != "segments64" {
			continue
		}
		for _, s := range l.sections() {
			for _, form := range []string{"zarr2://%some.zarr/", "zarr3://%some-v3.zarr/"} {
				if strings.HasPrefix(form, "zarr3") && s.layout != "xy" {
					continue // the same voxels, at the same place
				}
				sections = append(sections, s)
				shown := s
				for axis := range shown.center { // OME-Zarr gives the middle of voxel 0 the position 0
					shown.center[axis] -= 0.5
				}
				state := shown.stateOf(t, fmt.Sprintf(form, servers[l.mag].url+l.name+"/"))
				requests = append(requests, viewRequest{Name: form[:5] + "_" + s.name(),
					URL: viewer + "#!" + url.PathEscape(state)})
			}
		}
	}
	answers := drive(t, requests)
	for _, web := range servers {
		web.end(t, syscall.SIGTERM)
	}
	for i, got := range answers {
		t.Run(requests[i].Name, func(t *testing.T) {
			got.Problems = slices.DeleteFunc(got.Problems, isAbsentChunk)
			got.check(t, sections[i].layer.name)
			sections[i].compare(t, got)
		})
	}
}

// isAbsentChunk reports whether a problem is a chunk that does not exist, because no cube has a voxel of it.
func isAbsentChunk(problem string) bool {
	return strings.Contains(problem, "/ome") && strings.HasSuffix(problem, ": status 404") ||
		strings.Contains(problem, "Failed to load resource") && strings.Contains(problem, "404")
}
