package dataset

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
	for name, want := range map[string]string{"empty": "there are no objects", "shut": "401 Unauthorized", "plain": "not a WKW, Zarr, N5 or Precomputed dataset"} {
		_, err := Open(t.Context(), server.URL+"/"+name+"/cortex", Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, expected %q", name, err, want)
		}
	}
}
