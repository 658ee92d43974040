package dataset

import (
	"archive/zip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/webknossos"
)

// TestUnfinished: the journal of an import is found from the dataset, the layer and the mag, also by HTTP, where
// directories cannot be listed. An unfinished layer that is not shown is found by a listing.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if info, err := os.Stat(filepath.Join(dir, r.URL.Path)); err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		http.ServeFile(w, r, filepath.Join(dir, r.URL.Path))
	}))
	defer server.Close()
	check := func(where string, limit int, want ...string) {
		t.Helper()
		s, err := Open(t.Context(), where, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got := s.Unfinished(limit); !slices.Equal(got, want) {
			t.Errorf("%s, limit %d: got %q, expected %q", where, limit, got, want)
		}
	}
	for _, where := range []string{dir, dir + "/color", dir + "/color/1", server.URL} {
		check(where, 0)
	}
	if err := os.Mkdir(filepath.Join(dir, "hidden"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, layer := range []string{"color", "hidden"} {
		if err := os.WriteFile(filepath.Join(dir, layer, webknossos.JournalFile), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check(dir, 0, "color", "hidden")
	check(dir, 1, "color")
	check(dir+"/color", 0, "")
	check(dir+"/color/1", 0, "")
	check(dir+"/segmentation/1", 0)
	check(dir+"/color/1/z0/y1/x1.wkw", 0)
	check(server.URL, 0, "color")
	archive := filepath.Join(dir, "color", "image.ozx") // beside the journal of a layer
	zipDir(t, refdata.Dir(t, "zarr/ome05_czyx/labels/cells"), "", archive, zip.Store)
	check(archive, 0)
	check(server.URL+"/color/1", 0, "")
}
