package remote

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// checkPage fails if a page that a parser accepted could do harm.
func checkPage(t *testing.T, p page, err error) {
	t.Helper()
	if err != nil {
		return
	}
	for i, o := range p.objects {
		if o.Size < -1 || i > 0 && o.Key < p.objects[i-1].Key {
			t.Errorf("object %d: %+v", i, o)
		}
	}
}

// indexPage returns the objects of an index as one page.
func indexPage(answer *http.Response, body []byte, prefix string) (p page, err error) {
	found, err := parseIndex(answer, bytes.NewReader(body))
	if err != nil {
		return p, err
	}
	for objects := range found.objects(prefix, "") {
		p.objects = append(p.objects, objects...)
	}
	return p, nil
}

func FuzzS3Page(f *testing.F) {
	f.Add(
		[]byte(
			`<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>base/a%20b</Key><Size>3</Size><ETag>"x"</ETag></Contents></ListBucketResult>`))
	f.Add(
		[]byte(
			`<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>`))
	f.Add(
		[]byte(
			`<ListBucketResult><CommonPrefixes><Prefix>base/x/</Prefix></CommonPrefixes><Contents><Key>evil</Key></Contents></ListBucketResult>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := parseS3Page(body, "base/")
		checkPage(t, p, err)
	})
}

func FuzzGCSPage(f *testing.F) {
	f.Add(
		[]byte(
			`{"items":[{"name":"base/a","size":"3","generation":"17","updated":"2024-05-06T07:08:09Z"}],"prefixes":["base/x/"],"nextPageToken":"t"}`))
	f.Add([]byte(`{"items":[{"name":"evil","size":"-3"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := parseGCSPage(bytes.NewReader(body), "base/")
		checkPage(t, p, err)
	})
}

func FuzzIndex(f *testing.F) {
	f.Add("text/html", []byte(nginxIndex))
	f.Add("application/json", []byte(`[{"name":"a","type":"file"},{"name":"../b","type":"directory"}]`))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		answer := &http.Response{Header: http.Header{"Content-Type": {kind}},
			Request: &http.Request{URL: &url.URL{Scheme: "http", Host: "h", Path: "/d/"}}}
		p, err := indexPage(answer, body, "z/")
		checkPage(t, p, err)
		for _, o := range p.objects {
			name, ok := strings.CutPrefix(o.Key, "z/")
			if name = strings.TrimSuffix(name, "/"); !ok || name == "" || name == ".." || strings.Contains(name, "/") {
				t.Errorf("got the key %q", o.Key)
			}
		}
	})
}

const nginxIndex = `<html><head><title>Index of /d/</title></head><body><h1>Index of /d/</h1><hr><pre><a href="../">../</a>
<a href="color/">color/</a>  06-May-2024 07:08  -
<a href="a%20b%25.json">a b%.json</a> 06-May-2024 07:08  17
</pre><hr></body></html>`

func TestIndex(t *testing.T) {
	const apache = `<!DOCTYPE HTML><html><head><title>Index of /d</title></head><body><h1>Index of /d</h1><table>
<tr><th><a href="?C=N;O=D">Name</a></th></tr><tr><td><a href="/">Parent Directory</a></td></tr>
<tr><td><a href="color/">color/</a></td></tr><tr><td><a href="a%20b%25.json">a b%.json</a></td></tr></table></body></html>`
	const python = `<!DOCTYPE HTML><html lang="en"><head><title>Directory listing for /d/</title></head><body><ul>
<li><a href="a%20b%25.json">a b%.json</a></li><li><a href="color/">color/</a></li></ul></body></html>`
	for _, c := range []struct{ name, kind, body, want string }{
		{"nginx", "text/html; charset=utf-8", nginxIndex, "a b%.json color/"},
		{"Apache", "text/html", apache, "a b%.json color/"},
		{"Python", "text/html", python, "a b%.json color/"},
		{"absolute links", "text/html",
			`<title>Index of /d/</title><a href="/d/x">x</a><a href="http://h/d/y/">y</a><a href="http://other/d/z">z</a><a href="/e/w">w</a>`, "x y/"},
		{"twice", "text/html", `<title>Index of /d/</title><a href="x">icon</a><a href="x">x</a>`, "x"},
		{"traversal", "text/html",
			`<title>Index of /d/</title><a href="..%2fx">a</a><a href="%2e%2e">b</a><a href="a/b">c</a><a href="javascript:x">d</a>`, ""},
		{"another page", "text/html", `<title>Welcome</title><a href="x">x</a>`, "-"},
		{"nginx JSON", "application/json",
			`[{"name":"color","type":"directory","mtime":"x"},{"name":"a b%.json","type":"file","size":17}]`,
			"a b%.json color/"},
		{"other JSON", "application/json", `{"zarr_format":2}`, "-"},
		{"JSON list", "application/json", `[{"id":1}]`, "-"},
		{"binary", "application/octet-stream", "x", "-"},
	} {
		answer := &http.Response{Header: http.Header{"Content-Type": {c.kind}},
			Request: &http.Request{URL: &url.URL{Scheme: "http", Host: "h", Path: "/d/"}}}
		p, err := indexPage(answer, []byte(c.body), "p/")
		var got []string
		for _, o := range p.objects {
			got = append(got, strings.TrimPrefix(o.Key, "p/"))
		}
		if text := strings.Join(got, " "); (err == nil && text != c.want) || (err != nil) != (c.want == "-") {
			t.Errorf("%s: got %q, %v, expected %q", c.name, text, err, c.want)
		}
	}
}
