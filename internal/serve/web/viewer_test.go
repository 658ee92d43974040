package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/serve/web"
)

// newViewer returns the files of a viewer.
func newViewer(t *testing.T) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	for name, text := range map[string]string{"index.html": "<!doctype html>the page", "main.bundle.js": "start()",
		"licenses.txt": "licences"} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		files[name+".gz"] = &fstest.MapFile{Data: b.Bytes()}
	}
	return files
}

// TestViewerFiles: the files of the viewer need no token, and no name leads to anything else without one.
func TestViewerFiles(t *testing.T) {
	at := start(t, newTree(), web.Options{Viewer: newViewer(t), Token: "secret"}) + web.ViewerPath
	for _, test := range []struct {
		path, contentType, body string
		status                  int
	}{
		{"?token=secret", "text/html; charset=utf-8", "<!doctype html>the page", 200},
		{"", "", "", 401},
		{"index.html", "text/html; charset=utf-8", "<!doctype html>the page", 200},
		{"main.bundle.js", "text/javascript; charset=utf-8", "start()", 200},
		{"licenses.txt", "text/plain; charset=utf-8", "licences", 200},
		{"state.json", "", "", 401},
		{"state.json?token=secret", "", "", 404}, // the tree has no layer that Neuroglancer can show
		{"main.bundle.js/", "", "", 401},
		{"main.bundle.js.gz", "", "", 401},
		{"none.js?token=secret", "", "", 404},
		{"./main.bundle.js?token=secret", "", "", 404},
	} {
		reply, body, err := fetch(t, "GET", at+test.path, nil)
		if err != nil || reply.StatusCode != test.status || test.status == 200 && (string(body) != test.body ||
			reply.Header.Get("Content-Type") != test.contentType) {
			t.Errorf("%q: status %d, error %v, %s: %.100q", test.path, reply.StatusCode, err,
				reply.Header.Get("Content-Type"), body)
		}
		if policy := reply.Header.Get("Content-Security-Policy"); test.status == 200 &&
			!strings.Contains(policy, "default-src 'none'; script-src 'self' 'wasm-unsafe-eval';") ||
			test.status != 200 && policy != "default-src 'none'; sandbox" {
			t.Errorf("%q: policy %q", test.path, policy)
		}
		if tag := reply.Header.Get("ETag"); test.status == 200 {
			if reply, _, _ := fetch(t, "GET", at+test.path, headers{"If-None-Match: " + tag}); reply.StatusCode != 304 {
				t.Errorf("%q: status %d for its ETag", test.path, reply.StatusCode)
			}
		}
	}
	at = start(t, newTree(), web.Options{})
	for _, path := range []string{web.ViewerPath, web.ViewerPath + "index.html", web.ViewerPath + "state.json"} {
		if reply, _, _ := fetch(t, "GET", at+path, nil); reply.StatusCode != 404 {
			t.Errorf("without a viewer, %s: status %d", path, reply.StatusCode)
		}
	}
}

// state is what a test needs of Neuroglancer's state.
type state struct {
	Dimensions map[string][2]any
	Position   []float64
	Scale      float64 `json:"crossSectionScale"`
	Layout     string
	Layers     []struct {
		Type, Name, Source, Shader string
		Controls                   map[string]struct{ Range [2]any } `json:"shaderControls"`
		Visible                    *bool
	}
}

// fetchState requests the state of the layers that a query names.
func fetchState(t *testing.T, at, query string) (v state, extent []float64, unshown []string) {
	t.Helper()
	reply, body, err := fetch(t, "GET", at+web.ViewerPath+"state.json"+query, nil)
	var answer struct {
		State   *state
		Extent  *[]float64
		Unshown *[]string
	}
	answer.State, answer.Extent, answer.Unshown = &v, &extent, &unshown
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil || reply.StatusCode != 200 {
		t.Fatalf("state.json%s: status %d, %v: %s", query, reply.StatusCode, err, body)
	}
	return v, extent, unshown
}

// TestViewerState: the state shows all layers, in the middle of the data, with the sizes of their voxels.
func TestViewerState(t *testing.T) {
	at := start(t, openTree(t, writeSample(t), "."), web.Options{Name: "cortex", Viewer: newViewer(t), Token: "a+b"})
	got, extent, unshown := fetchState(t, at, "?token=a%2Bb")
	if len(got.Layers) != 2 || len(unshown) != 0 || got.Layout != "4panel" {
		t.Fatalf("state %+v, not shown: %q", got, unshown)
	}
	// The layers are 40 × 34 × 19 voxels of 11.24 × 11.24 × 25 nm, from voxel 10,20,30 on.
	for i, want := range []float64{30.5, 37.5, 39.5} {
		if got.Position[i] != want {
			t.Errorf("position %v, want %v on axis %d", got.Position, want, i)
		}
	}
	for i, want := range []float64{40, 34, 19 * 25 / 11.24} {
		if d := extent[i] - want; d > 1e-9 || d < -1e-9 {
			t.Errorf("extent %v, want %v on axis %d", extent, want, i)
		}
	}
	for name, want := range map[string]float64{"x": 11.24e-9, "y": 11.24e-9, "z": 25e-9} {
		if d, ok := got.Dimensions[name][0].(float64); !ok || d/want > 1.000001 || d/want < 0.999999 ||
			got.Dimensions[name][1] != "m" {
			t.Errorf("dimension %s is %v, want %v m", name, got.Dimensions[name], want)
		}
	}
	for i, want := range []string{"image color", "segmentation segmentation"} {
		l := got.Layers[i]
		if l.Type+" "+l.Name != want || l.Source != "/"+l.Name+"/precomputed/?token=a%2Bb" {
			t.Errorf("layer %+v, want %s", l, want)
		}
		// The viewer inserts names before the query.
		info := at + strings.Replace(l.Source, "/?", "/info?", 1)
		if reply, body, _ := fetch(t, "GET", info, nil); reply.StatusCode != 200 ||
			reply.Header.Get("Content-Type") != "application/json" || !json.Valid(body) {
			t.Errorf("%s: status %d:\n%s", info, reply.StatusCode, body)
		}
	}
	if got, _, _ = fetchState(t, at, "?token=a%2Bb&layer=segmentation"); len(got.Layers) != 1 ||
		got.Layers[0].Name != "segmentation" {
		t.Errorf("layers %+v", got.Layers)
	}
	reply, body, _ := fetch(t, "GET", at+web.ViewerPath+"state.json?token=a%2Bb&layer=none", nil)
	if reply.StatusCode != 404 {
		t.Errorf("a layer that does not exist: status %d: %s", reply.StatusCode, body)
	}
}

// TestRedirectToViewer: a server without a viewer sends the browser to another site, with the same state.
func TestRedirectToViewer(t *testing.T) {
	dir := writeSample(t)
	at := start(t, openTree(t, dir, "."), web.Options{Neuroglancer: "https://viewer.example/ng/", Token: "a+b"})
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	reply, err := client.Get(at + web.ViewerPath + "?token=a%2Bb")
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	fragment, ok := strings.CutPrefix(reply.Header.Get("Location"), "https://viewer.example/ng/#!")
	text, err := url.PathUnescape(fragment)
	var got state
	if err == nil {
		err = json.Unmarshal([]byte(text), &got)
	}
	if err != nil || !ok || reply.StatusCode != 302 || len(got.Layers) != 2 || got.Scale == 0 ||
		len(got.Position) != 3 {
		t.Fatalf("status %d, error %v, to %s", reply.StatusCode, err, reply.Header.Get("Location"))
	}
	for _, l := range got.Layers {
		if want := at + "/" + l.Name + "/precomputed/?token=a%2Bb|neuroglancer-precomputed:"; l.Source != want {
			t.Errorf("source %s, want %s", l.Source, want)
		}
	}
	// The page has no links without a viewer.
	at = start(t, openTree(t, dir, "."), web.Options{})
	if _, body, _ := fetch(t, "GET", at, headers{browser}); strings.Contains(string(body), "Neuroglancer") {
		t.Error("there are links without a viewer")
	}
}

// TestOneTimeLink: the link leads to the target once. All other requests go to the next handler. Requests that are not
// allowed do not use the link up.
func TestOneTimeLink(t *testing.T) {
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	const stranger = "192.0.2.9:9"
	allowed := func(r *http.Request) bool { return r.RemoteAddr != stranger }
	h, path := web.OneTimeLink(next, "/secret?token=x", allowed)
	_, other := web.OneTimeLink(next, "/secret?token=x", allowed)
	for _, test := range []struct {
		from, method, path, to string
		status                 int
	}{
		{"", "GET", other, "", 418}, {"", "GET", path + "x", "", 418}, {"", "HEAD", path, "", 418},
		{stranger, "GET", other, "", 418},
		{stranger, "GET", path, "", 403}, {"", "GET", path, "/secret?token=x", 303}, {"", "GET", path, "", 410},
		{stranger, "GET", path, "", 403}, {"", "GET", "/", "", 418},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(test.method, test.path, nil)
		if test.from != "" {
			r.RemoteAddr = test.from
		}
		h.ServeHTTP(w, r)
		if w.Code != test.status || w.Header().Get("Location") != test.to ||
			strings.Contains(w.Body.String(), "token") {
			t.Errorf("%s %s from %q: status %d, to %q, want %d", test.method, test.path, test.from, w.Code,
				w.Header().Get("Location"), test.status)
		}
	}
}
