package remote

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

func TestWeb(t *testing.T) {
	b := open(t, "https://user:pw@example.org/a%20b/?token=t#x", Options{},
		func(w http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			if user != "user" || password != "pw" || r.URL.Query().Get("token") != "t" ||
				r.Header.Get("Accept-Encoding") != "identity" {
				w.WriteHeader(401)
				return
			}
			switch r.URL.EscapedPath() {
			case "/a%20b/":
				w.Header().Set("Content-Type", "text/html")
				w.Write([]byte(`<title>Index of /a b/</title><a href="c%25d">c</a><a href="e/">e</a>`))
			case "/a%20b/c%25d":
				w.Header().Set("Etag", `"v1"`)
				serve(w, r, alphabet)
			case "/a%20b/e", "/a%20b/shut":
				http.Redirect(w, r, r.URL.Path+"/?"+r.URL.RawQuery, http.StatusMovedPermanently)
			case "/a%20b/shut/":
				w.WriteHeader(403)
			case "/a%20b/page":
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
			default:
				w.WriteHeader(404)
			}
		})
	if got := b.URL(); got != "https://example.org/a%20b" {
		t.Errorf("got %s", got)
	}
	if keys, err := listAll(t, b, "", "", "/"); strings.Join(keys, " ") != "c%d e/" || err != nil {
		t.Errorf("got %q, %v", keys, err)
	}
	o, err := b.Head(t.Context(), "c%d")
	if err != nil || o.Size != 26 || o.Version != `"v1"` {
		t.Errorf("got %+v, %v", o, err)
	}
	if got, err := read(b, o, 24, 2); got != "yz" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for key, directory := range map[string]bool{"e": true, "shut": true, "page": false, "nothing": false} {
		_, err := b.Head(t.Context(), key)
		if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, object.ErrDirectory) != directory {
			t.Errorf("%s: got %v", key, err)
		}
	}
	for _, prefix := range []string{"nothing/", "shut/"} {
		if _, err := listAll(t, b, prefix, "", "/"); !errors.Is(err, object.ErrCannotList) {
			t.Errorf("%s: got %v", prefix, err)
		}
	}
	if _, err := listAll(t, b, "", "", ""); !errors.Is(err, object.ErrCannotList) {
		t.Errorf("all below: got %v", err)
	}
}

// TestRedirects: redirects are followed, but not from https to http, and no secret goes to another host.
func TestRedirects(t *testing.T) {
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"https://user:pw@h/d?token=t", "https://cdn.example.org/x", true},
		{"http://user:pw@h/d?token=t", "https://cdn.example.org/x", true},
		{"https://user:pw@h/d?token=t", "http://cdn.example.org/x", false},
		{"http://h/d", "http://h/d/x", false}, // for ever
	} {
		requests := 0
		b := open(t, c.from, Options{}, func(w http.ResponseWriter, r *http.Request) {
			if requests++; r.URL.Host == "cdn.example.org" {
				if r.Header.Get("Authorization")+r.Header.Get("Referer")+r.URL.RawQuery != "" {
					t.Errorf("%s to %s: sent %v %v", c.from, c.to, r.URL, r.Header)
				}
				serve(w, r, alphabet)
				return
			}
			http.Redirect(w, r, c.to, http.StatusFound)
		})
		got, err := read(b, object.Object{Key: "x", Size: 26}, 0, 3)
		if (err == nil) != c.ok || c.ok && got != "abc" || requests > 20 {
			t.Errorf("%s to %s: got %q, %v after %d requests", c.from, c.to, got, err, requests)
		}
		if err != nil && (strings.Contains(err.Error(), "pw") || strings.Contains(err.Error(), "token")) {
			t.Errorf("%v has a secret", err)
		}
	}
}

// TestRedirectChains: all chains of up to three redirects. None of them leads from https to http, and the password and
// a token reach only the server that they are for.
func TestRedirectChains(t *testing.T) {
	hops := []string{"http://h/d", "https://h/d", "https://H:443/d", "http://h:443/d", "https://h:444/d",
		"https://sub.h/d", "http://other/d", "https://other/d"}
	var chains [][]string
	for _, start := range []string{"http://h/d", "https://h/d"} {
		for text := range sequences(3, []string{"0", "1", "2", "3", "4", "5", "6", "7"}) {
			chain := []string{start}
			for _, n := range text {
				chain = append(chain, hops[n-'0'])
			}
			chains = append(chains, chain)
		}
	}
	for _, chain := range chains {
		for _, token := range []bool{false, true} {
			first, requests, down := chain[0], 0, false
			for i, hop := range chain[1:] {
				down = down || strings.HasPrefix(chain[i], "https:") && strings.HasPrefix(hop, "http:")
			}
			start := strings.Replace(first, "://", "://user:pw@", 1)
			if token {
				start = first
			}
			b := open(t, start, Options{}, func(w http.ResponseWriter, r *http.Request) {
				ofFirst := strings.HasPrefix(first, r.URL.Scheme+"://h/") && (r.URL.Host == "h" ||
					strings.ToLower(r.URL.Host) == "h:443" && r.URL.Scheme == "https")
				if secret := r.Header.Get("Authorization"); secret != "" && !ofFirst || secret == "" && requests == 0 {
					t.Errorf("%v: request %d to %v has %q", chain, requests, r.URL, secret)
				}
				if requests++; requests < len(chain) {
					w.Header().Set("Location", chain[requests])
					w.WriteHeader(http.StatusTemporaryRedirect)
					return
				}
				serve(w, r, alphabet)
			})
			if token {
				b.(*web).sign = func(q *http.Request) (*http.Request, error) {
					q.Header.Set("Authorization", "Bearer secret")
					return q, nil
				}
			}
			got, err := read(b, object.Object{Key: "x", Size: 26}, 0, 3)
			if (err != nil) != down || !down && got != "abc" {
				t.Errorf("%v: got %q, %v after %d requests", chain, got, err, requests)
			}
		}
	}
}

// TestValidators: the version of an object by what the server says of it, and a warning if that is nothing.
func TestValidators(t *testing.T) {
	for _, c := range []struct{ etag, modified, want string }{
		{`"a"`, "Thu, 01 Jan 1970 00:01:00 GMT", `"a"`},
		{`W/"a"`, "Thu, 01 Jan 1970 00:01:00 GMT", `@60 W/"a"`},
		{`W/"a"`, "", `@ W/"a"`},
		{"", "Thu, 01 Jan 1970 00:01:00 GMT", "@60"},
		{`""`, "yesterday", ""},
		{"", "", ""},
	} {
		var log strings.Builder
		b := open(t, "http://h", Options{Log: slog.New(slog.NewTextHandler(&log, nil))},
			func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Etag", c.etag)
				w.Header().Set("Last-Modified", c.modified)
				w.Header().Set("Content-Length", "5")
			})
		for range 2 {
			if o, err := b.Head(t.Context(), "x"); o.Version != c.want || err != nil {
				t.Errorf("%+v: got %q, %v", c, o.Version, err)
			}
		}
		if warned := strings.Count(log.String(), "neither ETag nor Last-Modified"); (warned == 1) != (c.want == "") ||
			warned > 1 {
			t.Errorf("%+v: logged %s", c, log.String())
		}
	}
}
