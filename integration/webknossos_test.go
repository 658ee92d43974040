package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestLinkOfWEBKNOSSOS mounts the link of a dataset in WEBKNOSSOS: its server names the data store, which streams it as
// Zarr. The token of the link is in each request, and in no output. A dataset that is not public is an error with a
// hint.
func TestLinkOfWEBKNOSSOS(t *testing.T) {
	const id, token = "0123456789abcdef01234567", "very-secret"
	root, _ := refdata.Sources(t, "zarr")
	files := tempDir(t)
	if err := os.CopyFS(filepath.Join(files, "color", "1"), os.DirFS(filepath.Join(root, "n_null_all"))); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(map[string]any{"scale": []int{4, 4, 30}, "dataLayers": []any{map[string]any{
		"name": "color", "category": "color", "dataFormat": "zarr3",
		"boundingBox": map[string]any{"topLeft": []int{0, 0, 0}, "width": 40, "height": 24, "depth": 12},
		"mags": []any{map[string]any{"mag": []int{1, 1, 1}, "path": "./color/1",
			"axisOrder": map[string]int{"z": 0, "y": 1, "x": 2}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(files, "datasource-properties.json"), b)
	var mu sync.Mutex
	var refused []string
	var server *httptest.Server
	streamed := http.StripPrefix("/data/v9/zarr/lab/brain", http.FileServer(http.Dir(files)))
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shared := r.FormValue("sharingToken") == token || r.FormValue("token") == token
		switch {
		case !shared:
			mu.Lock()
			refused = append(refused, r.URL.Path)
			mu.Unlock()
			http.Error(w, "not public", http.StatusForbidden)
		case r.URL.Path == "/api/v9/datasets/"+id:
			fmt.Fprintf(w,
				`{"id":%q,"name":"Brain","directoryName":"brain","owningOrganization":"lab","dataStore":{"url":%q}}`,
				id, server.URL)
		case strings.HasPrefix(r.URL.Path, "/data/v9/zarr/lab/brain/"):
			streamed.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	shared := server.URL + "/datasets/Brain-" + id + "/view?token=" + token + "#12,13,1,0,1.3"
	dir := mount(t, shared)
	want, err := os.ReadFile(filepath.Join(mount(t, files), "color", "1", "volume.raw"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "color", "1", "volume.raw")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
	}
	for _, text := range refused {
		t.Errorf("a request without the token: %s", text)
	}
	for _, args := range [][]string{{"info", shared}, {"list"}, {"check", shared}} {
		if r := wkwfs(t, args...); strings.Contains(r.stdout+r.stderr, token) {
			t.Errorf("%s shows the token: %s%s", args[0], r.stdout, r.stderr)
		}
	}
	r := wkwfs(t, "info", server.URL+"/datasets/Brain-"+id+"/view")
	if r.code == 0 || !strings.Contains(r.stderr, "has to be public") {
		t.Errorf("without a token: exit code %d, %s", r.code, r.stderr)
	}
	r = wkwfs(t, "info", server.URL+"/annotations/"+id+"?token="+token+"#1,2,3")
	if r.code == 0 || !strings.Contains(r.stderr, "the link of an annotation") ||
		!strings.Contains(r.stderr, "mount the zip") || strings.Contains(r.stderr, token) {
		t.Errorf("an annotation: exit code %d, %s", r.code, r.stderr)
	}
	r = wkwfs(t, "info", server.URL+"/datasets/Brain-"+strings.Repeat("0", 24)+"/view?token="+token)
	if r.code == 0 || !strings.Contains(r.stderr, "has to be public") || strings.Contains(r.stderr, token) {
		t.Errorf("another dataset: exit code %d, %s", r.code, r.stderr)
	}
}
