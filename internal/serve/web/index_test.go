package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/serve/web"
)

func TestIndex(t *testing.T) {
	url := start(t, newTree(), web.Options{Name: "cortex"})
	for _, test := range []struct{ path, accept, want string }{
		{"/color/1", "",
			`[{"name":"volume.json","type":"file","size":17,"mtime":"2024-05-06T07:08:09Z"},{"name":"volume.raw","type":"file","size":1048576,"mtime":"2024-05-06T07:08:09Z"}]`},
		{"/color/1/", "application/json", ""},
		{"/color", "*/*", `[{"name":"1","type":"directory","mtime":"2024-05-06T07:08:09Z"}]`},
	} {
		reply, body, _ := fetch(t, "GET", url+test.path, headers{"Accept: " + test.accept})
		if reply.StatusCode != 200 || reply.Header.Get("Content-Type") != "application/json" || !json.Valid(body) {
			t.Errorf("%s: status %d, type %s:\n%s", test.path, reply.StatusCode, reply.Header.Get("Content-Type"), body)
		}
		if test.want != "" && strings.TrimSpace(string(body)) != test.want {
			t.Errorf("%s: got\n%swant\n%s", test.path, body, test.want)
		}
		tag := reply.Header.Get("ETag")
		if reply, _, _ = fetch(t, "GET", url+test.path, headers{"If-None-Match: " + tag}); reply.StatusCode != 304 {
			t.Errorf("%s: status %d for ETag %s", test.path, reply.StatusCode, tag)
		}
	}
	// An entry without attributes is listed without a size.
	_, body, _ := fetch(t, "GET", url+"/", nil)
	if want := `{"name":"shut.raw","type":"file"}`; !strings.Contains(string(body), want) {
		t.Errorf("the root lists %s, want %s in it", body, want)
	}
	const browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	reply, body, _ := fetch(t, "GET", url+"/color/1/", headers{browser})
	for _, want := range []string{`<a href="/">cortex</a>`, `<a href="/color/">color</a>`,
		`<a href="/color/1/volume.raw">volume.raw</a>`, "1.0 MiB", "2024-05-06 07:08:09"} {
		if !strings.Contains(string(body), want) {
			t.Errorf("the page lacks %s:\n%s", want, body)
		}
	}
	if got := reply.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("the page is %s", got)
	}
	if _, body, _ = fetch(t, "GET", url+"/", headers{browser}); !strings.Contains(string(body),
		`<a href="/a%20b&amp;c%25%3Cd%3E.txt">a b&amp;c%&lt;d&gt;.txt</a>`) {
		t.Errorf("a name is not escaped:\n%s", body)
	}
	if reply, _, _ = fetch(t, "GET", url+"/color",
		headers{"Accept: text/html;q=0.5, application/json"}); reply.Header.Get("Content-Type") != "application/json" {
		t.Errorf("a client that prefers JSON gets %s", reply.Header.Get("Content-Type"))
	}
}

// TestLargeIndex checks that a large directory is complete as JSON, and that a page says what it does not show.
func TestLargeIndex(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	const n = 24_000
	files := fstest.MapFS{}
	for i := range n {
		files[fmt.Sprintf("slices/z%07d.tif", i)] = &fstest.MapFile{Data: []byte{1}}
	}
	url := start(t, files, web.Options{})
	reply, body, _ := fetch(t, "GET", url+"/slices/", nil)
	var entries []struct {
		Name string `json:"name"`
		Size int    `json:"size"`
	}
	if err := json.Unmarshal(body, &entries); err != nil || len(entries) != n ||
		reply.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for i, e := range entries {
		if e.Name != fmt.Sprintf("z%07d.tif", i) || e.Size != 1 {
			t.Fatalf("entry %d is %+v", i, e)
		}
	}
	if reply, body, _ := fetch(t, "HEAD", url+"/slices/", nil); reply.StatusCode != 200 || len(body) != 0 {
		t.Errorf("HEAD: status %d, %d bytes", reply.StatusCode, len(body))
	}
	const more = "There are more entries."
	html := headers{"Accept: text/html"}
	if _, body, _ := fetch(t, "GET", url+"/slices/", html); !strings.Contains(string(body), "z0000000.tif") ||
		!strings.Contains(string(body), more) {
		t.Errorf("a page of %d bytes lacks an entry, or that there are more", len(body))
	}
	if _, body, _ := fetch(t, "GET", url+"/", html); strings.Contains(string(body), more) {
		t.Error("the root has no more entries")
	}
}
