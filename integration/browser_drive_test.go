//go:build browser

package integration

import (
	"cmp"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/serve/viewer"
)

// viewRequest is a page that browser/drive.js opens.
type viewRequest struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	Link string `json:"link,omitempty"` // CSS selector of the link to click on
	Size []int  `json:"size,omitempty"` // of the window, in pixels
	// Points are positions relative to the middle of the view.
	Points    [][3]int `json:"points,omitempty"`
	Artifacts string   `json:"artifacts"` // directory for pictures
}

// viewResult is what drive.js found on a page.
type viewResult struct {
	Screenshot string   // PNG of the page
	Canvas     string   // PNG of the WebGL canvas
	Panel      panel    // the cross section in the canvas
	Layers     []string // names
	State      viewState
	Values     [][]string // of each layer at each point
	Problems   []string
}

// panel is a rectangle in a picture, in pixels.
type panel struct{ Left, Top, Width, Height float64 }

// drive opens all pages, one after the other.
func drive(t *testing.T, requests []viewRequest) []viewResult {
	t.Helper()
	artifacts, err := filepath.Abs("browser/artifacts")
	if err == nil {
		err = os.MkdirAll(artifacts, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range requests {
		requests[i].Artifacts = artifacts
	}
	input, err := json.Marshal(requests)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "drive.js")
	cmd.Dir = "browser"
	cmd.Stdin = strings.NewReader(string(input))
	r := runCommand(t, cmd)
	var results []viewResult
	for line := range strings.Lines(r.stdout) {
		var s viewResult
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("drive.js printed %q: %v", line, err)
		}
		results = append(results, s)
	}
	if r.code != 0 || len(results) != len(requests) {
		t.Fatalf("drive.js exited with %d after %d of %d pages: %s", r.code, len(results), len(requests), r.stderr)
	}
	return results
}

// check checks that the page shows these layers and reported no problems.
func (s viewResult) check(t *testing.T, layers ...string) {
	t.Helper()
	t.Log("screenshot:", s.Screenshot)
	if len(s.Problems) > 0 || !slices.Equal(s.Layers, layers) {
		t.Fatalf("layers %q, want %q; %d problems: %q", s.Layers, layers, len(s.Problems),
			s.Problems[:min(10, len(s.Problems))])
	}
}

// pixels returns the pixels of the panel by their position in it.
func (s viewResult) pixels(t *testing.T) map[image.Point]color.NRGBA {
	t.Helper()
	f, err := os.Open(s.Canvas)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", s.Canvas, err)
	}
	corner := image.Pt(int(s.Panel.Left), int(s.Panel.Top))
	pixels := map[image.Point]color.NRGBA{}
	for y := range int(s.Panel.Height) {
		for x := range int(s.Panel.Width) {
			at := image.Pt(x, y)
			p := at.Add(corner)
			pixels[at] = color.NRGBAModel.Convert(picture.At(p.X, p.Y)).(color.NRGBA)
		}
	}
	return pixels
}

// viewerPage serves the viewer that is built into programs from another site than that of wkwfs, without a policy: as
// Neuroglancer is served elsewhere.
func viewerPage(t *testing.T) string {
	t.Helper()
	files := viewer.Files()
	if files == nil {
		t.Fatal("there is no viewer: make viewer builds it")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := cmp.Or(strings.TrimPrefix(r.URL.Path, "/"), "index.html")
		w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		w.Header().Set("Content-Encoding", "gzip")
		http.ServeFileFS(w, r, files, name+".gz")
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}
