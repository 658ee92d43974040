//go:build browser

package integration

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// zarritaBox is a box of a Zarr array for browser/zarrita.js: half-open ranges by axis. Axes without one are read
// whole.
type zarritaBox struct {
	URL  string            `json:"url"`
	Axes []string          `json:"axes"`
	Box  map[string][2]int `json:"box,omitempty"`
}

// zarrita reads boxes with zarrita, which shares no code with wkwfs. It returns the SHA-256 of the voxels of each.
func zarrita(t *testing.T, boxes []zarritaBox) []string {
	t.Helper()
	request, err := json.Marshal(boxes)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("node", "browser/zarrita.js")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(request), &stderr
	output, err := cmd.Output()
	hashes := strings.Fields(string(output))
	if err != nil || len(hashes) != len(boxes) {
		t.Fatalf("%d hashes of %d boxes, %v: %s", len(hashes), len(boxes), err, stderr.String())
	}
	return hashes
}

// sumOf returns the SHA-256 of a file.
func sumOf(t *testing.T, path string) string {
	t.Helper()
	sum, _ := hash(t, path)
	return sum
}

// TestBrowserZarrita imports voxels as Zarr 3, with a coarser mag. zarrita reads the same voxels from the dataset as
// wkwfs.
func TestBrowserZarrita(t *testing.T) {
	dir := tempDir(t)
	voxels := make([]byte, 70*50*40*3*2)
	for i := range voxels[len(voxels)/4:] { // a shard of zeros is absent
		voxels[len(voxels)/4+i] = byte(i*7 + i>>8)
	}
	raw := filepath.Join(dir, "volume.raw")
	writeFile(t, raw, voxels)
	dataset := filepath.Join(dir, "dataset")
	mustRun(t, "import", "-q", raw, dataset, "--layer", "l", "--shape", "70,50,40", "--dtype", "uint16", "--channels",
		"3", "--offset", "5,9,30",
		"--voxel-size", "4,4,40", "--category", "color", "--format", "zarr3", "--block", "16", "--cube", "32", "--mags",
		"1")
	server := httptest.NewServer(http.FileServer(http.Dir(dataset)))
	defer server.Close()
	axes := []string{"c", "x", "y", "z"}
	mags := []string{"1", "2-2-1"}
	got := zarrita(t, []zarritaBox{
		{server.URL + "/l/1", axes, map[string][2]int{"x": {5, 75}, "y": {9, 59}, "z": {30, 70}}},
		{server.URL + "/l/2-2-1", axes, map[string][2]int{"x": {2, 38}, "y": {4, 30}, "z": {30, 70}}},
	})
	for i, mag := range mags {
		want := filepath.Join(dir, mag+".raw")
		mustRun(t, "cp", "-q", dataset, "l/"+mag+"/volume.raw", want)
		if want := sumOf(t, want); got[i] != want {
			t.Errorf("mag %s: zarrita reads voxels with the hash %s, wkwfs with %s", mag, got[i], want)
		}
	}
}

// TestBrowserZarritaAgrees: zarrita and wkwfs read the same voxels from arrays that other programs wrote.
func TestBrowserZarritaAgrees(t *testing.T) {
	root, manifest := refdata.Arrays(t)
	server := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer server.Close()
	var arrays []refdata.Array
	var boxes []zarritaBox
	for _, a := range manifest.Arrays {
		isBool := a.StoredType == "|b1" || a.StoredType == "bool" // not numbers there
		beyond := a.Path == "wk_boxes/larger/1"                   // the layer has zeros after the end of the array
		if a.Expect == "ok" && a.Format != "n5" && slices.Contains(a.ConfirmedBy, "zarrita") && a.TopLeft == [3]int{} &&
			!isBool && !beyond {
			arrays = append(arrays, a)
			// the array may be larger
			box := map[string][2]int{"x": {0, a.Size[0]}, "y": {0, a.Size[1]}, "z": {0, a.Size[2]}}
			boxes = append(boxes, zarritaBox{server.URL + "/" + a.Path, a.Axes, box})
		}
	}
	if len(arrays) < 20 {
		t.Fatalf("only %d arrays", len(arrays))
	}
	mounted := mount(t, datasetOf(t, root, arrays), "--follow-links")
	for i, got := range zarrita(t, boxes) {
		if want := sumOf(t, filepath.Join(mounted, layerName(arrays[i]), "1/volume.raw")); got != want {
			t.Errorf("%s: zarrita reads voxels with the hash %s, wkwfs with %s", arrays[i].Path, got, want)
		}
	}
}

// TestBrowserZarr3 imports segments as Zarr 3. Neuroglancer draws each voxel at its place from the files of the
// dataset.
func TestBrowserZarr3(t *testing.T) {
	dir := tempDir(t)
	var stacks []stack
	for _, s := range neuroglancerLayers() {
		if s.category == "segmentation" && s.mag == "1" {
			stacks = append(stacks, s)
			s.write(t, filepath.Join(dir, "wkw"))
		}
	}
	writeProperties(t, filepath.Join(dir, "wkw"), stacks)
	files := http.FileServer(http.Dir(filepath.Join(dir, "zarr")))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*") // the page is of another site
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	viewer := viewerPage(t)
	var sections []section
	var requests []viewRequest
	for _, s := range stacks {
		raw := filepath.Join(dir, s.name+".nrrd")
		mustRun(t, "cp", "-q", filepath.Join(dir, "wkw"), s.name+"/1/volume.nrrd", raw)
		mustRun(t, "import", "-q", raw, filepath.Join(dir, "zarr"), "--layer", s.name, "--category", s.category,
			"--format", "zarr3", "--block", "16", "--cube", "32")
		for _, section := range s.sections() {
			sections = append(sections, section)
			for axis := range section.center { // OME-Zarr gives the middle of voxel 0 the position 0
				section.center[axis] -= 0.5
			}
			state := section.stateOf(t, "zarr3://"+server.URL+"/"+s.name)
			requests = append(requests, viewRequest{Name: "zarr3_" + section.name(),
				URL: viewer + "#!" + url.PathEscape(state)})
		}
	}
	for i, got := range drive(t, requests) {
		t.Run(requests[i].Name, func(t *testing.T) {
			got.Problems = slices.DeleteFunc(got.Problems, isAbsentShard)
			got.check(t, sections[i].layer.name)
			sections[i].compare(t, got)
		})
	}
}

// isAbsentShard reports whether a problem is a shard that does not exist, because its voxels are 0.
func isAbsentShard(problem string) bool {
	return strings.Contains(problem, "/1/c/0/") && strings.HasSuffix(problem, ": status 404") ||
		strings.Contains(problem, "Failed to load resource") && strings.Contains(problem, "404")
}
