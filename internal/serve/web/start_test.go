package web_test

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"html"
	"image/png"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/serve/web"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// writeSample writes a small dataset.
func writeSample(t *testing.T) (dir string) {
	t.Helper()
	o := sample.Defaults()
	o.Box = volume.Box{Min: volume.Vec{10, 20, 30}, Max: volume.Vec{50, 54, 49}}
	o.Block, o.CubeSide, o.Mags, o.Unrecorded = 16, 32, []int{1, 2}, volume.Box{}
	dir = filepath.Join(t.TempDir(), "cortex")
	if err := sample.Write(t.Context(), dir, o); err != nil {
		t.Fatal(err)
	}
	return dir
}

// openTree returns the tree of the source at name in dir.
func openTree(t *testing.T, dir, name string) fs.FS {
	t.Helper()
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	root, err := webknossos.Recognise(fsys, name, webknossos.Options{Name: filepath.Base(name)})
	if err != nil {
		t.Fatal(err)
	}
	return view.New(root, view.Options{})
}

const browser = "Accept: text/html"

func TestStartPage(t *testing.T) {
	dir := writeSample(t)
	at := start(t, openTree(t, dir, "."), web.Options{Name: "cort<ex>", Neuroglancer: "https://viewer.example/ng/",
		Token: "a+b"})
	reply, body, err := fetch(t, "GET", at+"/?token=a%2Bb", headers{browser})
	if err != nil || reply.StatusCode != 200 {
		t.Fatalf("status %d, error %v:\n%s", reply.StatusCode, err, body)
	}
	page := string(body)
	for _, want := range []string{
		"<title>cort&lt;ex&gt; · wkwfs</title>", `<a href="/color/?token=a%2Bb">color</a>`,
		`<a href="/segmentation/?token=a%2Bb">segmentation</a>`,
		"40 × 34 × 19", "20 × 17 × 10", "11.24 × 11.24 × 25 nm", "uint8", "uint32", "25 KiB",
		`<a href="/color/2/volume.npy?token=a%2Bb">.npy</a>`,
		`<a href="/datasource-properties.json?token=a%2Bb">`, "plane z = 39 of color/1",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	// All links lead to existing files of this server, or to the viewer.
	links := regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	viewers := 0
	for _, l := range links {
		link := html.UnescapeString(l[1])
		if strings.HasPrefix(link, web.ViewerPath+"?") {
			viewers++
			continue // TestRedirectToViewer
		}
		if strings.HasPrefix(link, "data:") {
			continue // the icon, which is in the page
		}
		if reply, _, err := fetch(t, "GET", at+link, nil); !strings.HasPrefix(link, "/") || err != nil ||
			reply.StatusCode != 200 {
			t.Errorf("link %s: status %d, error %v", link, reply.StatusCode, err)
		}
	}
	if len(links) < 40 || viewers != 3 {
		t.Errorf("%d links, %d of them to the viewer:\n%s", len(links), viewers, page)
	}
}

// TestIcon: pages contain their icon, and their policy allows it. Otherwise, browsers request /favicon.ico, which does
// not exist.
func TestIcon(t *testing.T) {
	at := start(t, openTree(t, writeSample(t), "."), web.Options{})
	for _, page := range []string{"/", "/color/"} {
		reply, body, err := fetch(t, "GET", at+page, headers{browser})
		if err != nil {
			t.Fatal(err)
		}
		if policy := reply.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "img-src 'self' data:;") {
			t.Errorf("%s: policy %s", page, policy)
		}
		icon := regexp.MustCompile(`<link rel="icon" href="data:image/svg\+xml;base64,([^"]*)">`).FindStringSubmatch(
			html.UnescapeString(string(body)))
		if icon == nil {
			t.Fatalf("%s: no icon:\n%s", page, body)
		}
		svg, err := base64.StdEncoding.DecodeString(icon[1])
		if err != nil {
			t.Fatal(err)
		}
		var drawing struct {
			XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
		}
		if err := xml.Unmarshal(svg, &drawing); err != nil {
			t.Errorf("%s: %v:\n%s", page, err, svg)
		}
	}
}

// TestPreview: the picture of a layer is its middle plane.
func TestPreview(t *testing.T) {
	tree := openTree(t, writeSample(t), ".")
	at := start(t, tree, web.Options{})
	const path = "/.wkwfs/preview/segmentation/1/middle.png"
	reply, body, err := fetch(t, "GET", at+path, nil)
	if err != nil || reply.StatusCode != 200 || reply.Header.Get("Content-Type") != "image/png" {
		t.Fatalf("status %d, error %v:\n%s", reply.StatusCode, err, body)
	}
	img, err := png.Decode(bytes.NewReader(body))
	if err != nil || img.Bounds().Dx() != 40 || img.Bounds().Dy() != 34 {
		t.Fatalf("picture %v, error %v", img.Bounds(), err)
	}
	ids, err := fs.ReadFile(tree, "segmentation/1/box/10-50_20-54_39-40.raw")
	if err != nil {
		t.Fatal(err)
	}
	colours := map[string]any{}
	for i := range 40 * 34 {
		id, got := string(ids[4*i:4*i+4]), img.At(i%40, i/40)
		if before, ok := colours[id]; ok && before != got {
			t.Fatalf("ID % x is %v and %v", id, before, got)
		}
		colours[id] = got
		if _, _, _, alpha := got.RGBA(); (alpha == 0) != (id == "\x00\x00\x00\x00") {
			t.Fatalf("ID % x is %v", id, got)
		}
	}
	if len(colours) < 2 {
		t.Errorf("the plane has %d IDs: the test needs more", len(colours))
	}
	tag := reply.Header.Get("ETag")
	if reply, _, _ = fetch(t, "GET", at+path, headers{"If-None-Match: " + tag}); reply.StatusCode != 304 {
		t.Errorf("status %d for ETag %s", reply.StatusCode, tag)
	}
	if reply, _, _ = fetch(t, "HEAD", at+path, nil); reply.StatusCode != 200 || reply.Header.Get("ETag") != tag {
		t.Errorf("HEAD: status %d", reply.StatusCode)
	}
	if reply, _, _ = fetch(t, "GET", at+"/.wkwfs/preview/color/3/middle.png", nil); reply.StatusCode != 404 {
		t.Errorf("a mag that does not exist: status %d", reply.StatusCode)
	}
}

// TestStartPageOfParts tests the page of a layer, a mag, a cube and a damaged dataset.
func TestStartPageOfParts(t *testing.T) {
	dir := writeSample(t)
	for source, test := range map[string]struct {
		pictures int
		want     string
	}{
		"color":                {3, `<img class="thumb" src="/.wkwfs/preview/2/middle.png"`},
		"color/1":              {2, `src="/.wkwfs/preview/middle.png"`},
		"color/1/z0/y0/x0.wkw": {0, "There are no volumes here"},
	} {
		at := start(t, openTree(t, dir, source), web.Options{Name: "part"})
		reply, body, _ := fetch(t, "GET", at+"/", headers{browser})
		if n := strings.Count(string(body), "<img"); reply.StatusCode != 200 || n != test.pictures ||
			!strings.Contains(string(body), test.want) {
			t.Errorf("%s: status %d, %d pictures:\n%s", source, reply.StatusCode, n, body)
		}
		for _, m := range regexp.MustCompile(`src="([^"]*)"`).FindAllStringSubmatch(string(body), -1) {
			if reply, _, _ := fetch(t, "GET", at+m[1], nil); reply.StatusCode != 200 {
				t.Errorf("%s: picture %s: status %d", source, m[1], reply.StatusCode)
			}
		}
	}
	cube := filepath.Join(dir, "color/1/z1/y1/x0.wkw")
	b, err := os.ReadFile(cube)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cube, b[:len(b)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	at := start(t, openTree(t, dir, "."), web.Options{})
	if reply, _, _ := fetch(t, "GET", at+"/", headers{browser}); reply.StatusCode != 200 {
		t.Errorf("the page of a damaged dataset: status %d", reply.StatusCode)
	}
	reply, body, _ := fetch(t, "GET", at+"/.wkwfs/preview/color/1/middle.png", nil)
	if reply.StatusCode != 500 || !strings.Contains(string(body), "x0.wkw") {
		t.Errorf("the picture of a damaged plane: status %d: %s", reply.StatusCode, body)
	}
}

// TestUnreadableInfo: the page shows the error of each mag with a damaged volume.json, and all other mags.
func TestUnreadableInfo(t *testing.T) {
	files := newTree()
	for name, text := range map[string]string{
		"a/1": `{"dtype":"uint8","channels":1,"shape":[4,4,4],"bytes":64}`, "a/2": `{"error":"too large"}`,
		"a/4": `{"dtype":`, "a/8": `{"dtype":"uint8","channels":1}`,
	} {
		files.set(name+"/volume.json", &leaf{data: []byte(text)})
	}
	_, body, _ := fetch(t, "GET", start(t, files, web.Options{})+"/", headers{browser})
	for _, want := range []string{"a/2/volume.json: too large", "a/4/volume.json: unexpected end of JSON input",
		"a/8/volume.json: shape 0,0,0 is empty", "4 × 4 × 4", "unknown"} {
		if !strings.Contains(string(body), want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
}

// TestHiddenCharacters: pages, texts of errors and the state of the viewer have no characters of names that change how
// others look. Links lead to the names as they are.
func TestHiddenCharacters(t *testing.T) {
	const name = "a\u202egnp\u200b\u009b\x01"
	dir := writeSample(t)
	if err := os.Rename(filepath.Join(dir, "color"), filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	at := start(t, openTree(t, dir, "."), web.Options{Name: "title\u202e", Viewer: newViewer(t)})
	escaped := url.PathEscape(name)
	for path, want := range map[string]string{
		"/":                                 `<h1>title\u202e</h1>`,
		"/" + escaped + "/":                 `<h1>a\u202egnp\u200b\u009b\x01</h1>`,
		"/" + escaped + "/missing\u202e":    ``,
		web.ViewerPath:                      ``,
		"/" + escaped + "/1/box/\u202e.raw": ``,
		web.ViewerPath + "state.json":       `a\\u202egnp\\u200b`,
	} {
		_, body, err := fetch(t, "GET", at+path, headers{browser})
		if text := string(body); err != nil || hint.EscapeLines(text) != text || !strings.Contains(text, want) {
			t.Errorf("%s: %v, no %q in %q", path, err, want, text)
		}
	}
	if reply, _, err := fetch(t, "GET", at+"/"+escaped+"/1/volume.json", nil); err != nil || reply.StatusCode != 200 {
		t.Errorf("%v, %v", reply, err)
	}
}
