//go:build browser

package integration

import (
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// order is a view that browser/drive.js is to open.
type order struct {
	Name      string `json:"name"`
	URL       string `json:"url"`
	Link      string `json:"link,omitempty"` // what to click on there
	Artifacts string `json:"artifacts"`      // the directory for pictures
}

// shown is what it found.
type shown struct {
	Screenshot string   // PNG of the page
	Canvas     string   // PNG of what WebGL drew
	Panel      panel    // the cross section in it
	Layers     []string // their names
	Problems   []string
}

// panel is a part of a picture, in pixels.
type panel struct{ Left, Top, Width, Height float64 }

// drive opens all views, one after the other.
func drive(t *testing.T, orders []order) []shown {
	t.Helper()
	artifacts, err := filepath.Abs("browser/artifacts")
	if err == nil {
		err = os.MkdirAll(artifacts, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range orders {
		orders[i].Artifacts = artifacts
	}
	input, err := json.Marshal(orders)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "drive.js")
	cmd.Dir = "browser"
	cmd.Stdin = strings.NewReader(string(input))
	r := runCommand(t, cmd)
	var all []shown
	for line := range strings.Lines(r.stdout) {
		var s shown
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("drive.js answers %q: %v", line, err)
		}
		all = append(all, s)
	}
	if r.code != 0 || len(all) != len(orders) {
		t.Fatalf("drive.js ended with %d after %d of %d views: %s", r.code, len(all), len(orders), r.stderr)
	}
	return all
}

// check holds that the layers were opened, and that nothing complains.
func (s shown) check(t *testing.T, layers ...string) {
	t.Helper()
	t.Log("screenshot:", s.Screenshot)
	if len(s.Problems) > 0 || !slices.Equal(s.Layers, layers) {
		t.Fatalf("layers %q, want %q; %d problems: %q", s.Layers, layers, len(s.Problems), s.Problems[:min(10, len(s.Problems))])
	}
}

// pixels are those of the panel, by their place in it.
func (s shown) pixels(t *testing.T) map[image.Point]color.NRGBA {
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
	all := map[image.Point]color.NRGBA{}
	for y := range int(s.Panel.Height) {
		for x := range int(s.Panel.Width) {
			at := image.Pt(x, y)
			p := at.Add(corner)
			all[at] = color.NRGBAModel.Convert(picture.At(p.X, p.Y)).(color.NRGBA)
		}
	}
	return all
}

// viewerPage serves Neuroglancer, which browser/build.js made a page of, from a site of its own.
func viewerPage(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("browser/page/index.html"); err != nil {
		t.Fatalf("%v: browser/install.sh makes it", err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir("browser/page")))
	t.Cleanup(server.Close)
	return server.URL + "/"
}
