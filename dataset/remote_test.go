package dataset

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/jobs/gaps"
	"github.com/wkwfs/wkwfs/internal/jobs/inspect"
	"github.com/wkwfs/wkwfs/volume"
)

// TestOutsideURLs: what metadata of a remote dataset may name.
func TestOutsideURLs(t *testing.T) {
	const root = "https://user:pw@h/data/cortex?token=t"
	for _, c := range []struct {
		place  string
		follow bool
		want   string // the URL that is opened; "": refused
	}{
		{"https://h/data/cortex/color/1", false, "https://user:pw@h/data/cortex/color/1?token=t"},
		{"zarr://https://h/data/cortex/color", false, "https://user:pw@h/data/cortex/color?token=t"},
		{"https://h/data/other", false, ""},
		{"https://h/data/other", true, "https://h/data/other"},
		{"https://h/data/cortex/../other", false, ""},
		{"../other/color", false, ""},
		{"../other/color", true, "https://user:pw@h/data/other/color?token=t"},
		{"https://h/data/cortex/..%2fother", false, ""},
		{"https://h/data/cortex/..%5cother", false, ""},
		{"https://h/data/cortex/..%252fother", false, ""},
		{"https://h/data/cortex/..;a/other", false, ""},
		{"https://H:443/data/cortex/color", false, "https://user:pw@h/data/cortex/color?token=t"},
		{"..%2fother", false, ""},
		{`..\other`, false, ""},
		{"https://h/data/cortex/..%2fother", true, "https://h/data/cortex/..%2fother"},
		{"https://evil.example.org/x", true, "https://evil.example.org/x"},
		{"/etc", true, ""},
		{"file:///etc", true, ""},
	} {
		d := &directories{root: root}
		d.init(Options{FollowLinks: c.follow})
		fsys, err := d.outside(root)(c.place)
		if (err == nil) != (c.want != "") || (fsys == nil) != (err != nil) || c.want != "" && d.opened[c.want] == nil {
			t.Errorf("%s, following %t: got %v, opened %v", c.place, c.follow, err, d.opened)
		}
		if err != nil && strings.Contains(err.Error(), "pw") {
			t.Errorf("%v has a secret", err)
		}
	}
}

// TestNothingThere: the error for a URL says whether there is nothing, or whether it cannot be read.
func TestNothingThere(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); name {
		case "empty":
			if !strings.HasSuffix(r.URL.Path, "/") {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte("[]"))
		case "shut":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	for name, want := range map[string]string{"empty": "there are no objects", "shut": "401 Unauthorized",
		"plain": "not a WKW, Zarr, N5, Precomputed or HDF5 dataset"} {
		_, err := Open(t.Context(), server.URL+"/"+name+"/cortex", Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, expected %q", name, err, want)
		}
	}
}

// TestMetadataCannotLeadOut: paths and names in metadata of every format, on a server whose proxy decodes once more and
// that takes "\\" for "/". No request leaves the source.
func TestMetadataCannotLeadOut(t *testing.T) {
	formats := map[string]struct{ file, text string }{
		"mag of WKW": {"datasource-properties.json", `{"id": {"name": "c", "team": ""}, "scale": [1, 1, 1], "dataLayers": [{"name": "color", "category": "color",
			"boundingBox": {"topLeft": [0, 0, 0], "width": 8, "height": 8, "depth": 8}, "elementClass": "uint8", "dataFormat": "wkw",
			"mags": [{"mag": [1, 1, 1], "path": "PATH"}]}]}`},
		"layer of WKW": {"datasource-properties.json", `{"id": {"name": "c", "team": ""}, "scale": [1, 1, 1], "dataLayers": [{"name": "PATH", "category": "color",
			"boundingBox": {"topLeft": [0, 0, 0], "width": 8, "height": 8, "depth": 8}, "elementClass": "uint8", "dataFormat": "wkw",
			"mags": [{"mag": [1, 1, 1]}]}]}`},
		"Zarr in a dataset": {"datasource-properties.json", `{"id": {"name": "c", "team": ""}, "scale": [1, 1, 1], "dataLayers": [{"name": "color", "category": "color",
			"boundingBox": {"topLeft": [0, 0, 0], "width": 8, "height": 8, "depth": 8}, "elementClass": "uint8", "dataFormat": "zarr3",
			"mags": [{"mag": [1, 1, 1], "path": "PATH"}]}]}`},
		"Precomputed": {"info", `{"type": "image", "data_type": "uint8", "num_channels": 1, "scales": [{"key": "PATH", "size": [8, 8, 8], "resolution": [1, 1, 1],
			"voxel_offset": [0, 0, 0], "chunk_sizes": [[8, 8, 8]], "encoding": "raw"}]}`},
		"OME-Zarr": {".zattrs", `{"multiscales": [{"version": "0.4", "axes": [{"name": "z"}, {"name": "y"}, {"name": "x"}], "datasets": [{"path": "PATH",
			"coordinateTransformations": [{"type": "scale", "scale": [1, 1, 1]}]}]}]}`},
	}
	for _, below := range []string{"..%2fother", `..\\other`, "a/..%5c..%2fother", "..%252fother", "..;a/other",
		"ROOT/..%2fother", "ROOT/..%5cother", "ROOT/%2e%2e/other"} {
		for name, format := range formats {
			var asked atomic.Int64
			var server *httptest.Server
			server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				twice, _ := url.PathUnescape(r.URL.Path)
				at := strings.ReplaceAll(strings.ReplaceAll(twice, `\`, "/"), "..;a", "..")
				at = path.Clean(at)
				// which may have the metadata of a dataset
				parent := at == "/data" || at == "/data/datasource-properties.json"
				if !parent && at != "/data/cortex" && !strings.HasPrefix(at, "/data/cortex/") {
					t.Errorf("%s with %s: asked for %s", name, below, r.URL.EscapedPath())
				}
				switch r.URL.Path {
				case "/data/cortex/" + format.file:
					text := strings.ReplaceAll(strings.ReplaceAll(format.text, "PATH", below), "ROOT",
						server.URL+"/data/cortex")
					http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
				case "/data/cortex/.zgroup":
					if format.file == ".zattrs" {
						http.ServeContent(w, r, "", time.Time{}, strings.NewReader(`{"zarr_format": 2}`))
						return
					}
					w.WriteHeader(http.StatusNotFound)
				default:
					w.WriteHeader(http.StatusNotFound)
				}
			}))
			opened, err := Open(t.Context(), server.URL+"/data/cortex", Options{})
			if err == nil {
				_, err = inspect.Source("cortex", opened.Root, 2, gaps.Options{}) // what is not shown is no error
				if l := opened.Root.Layer; l != nil {
					openCubes(l)
				}
			}
			server.Close()
			if asked.Load() == 0 {
				t.Errorf("%s with %s: nothing asked: %v", name, below, err)
			}
		}
	}
}

// openCubes tries to open a cube of each mag of a layer.
func openCubes(l volume.Layer) {
	names, _ := l.Mags()
	for _, name := range names {
		if m, err := l.Mag(name); err == nil {
			_, _ = m.OpenCube(volume.Vec{})
		}
	}
}
