package web_test

import (
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/serve/web"
)

func TestToken(t *testing.T) {
	url := start(t, newTree(), web.Options{Token: "se+cret"})
	for _, test := range []struct {
		path   string
		send   headers
		status int
	}{
		{"/ids.raw", nil, 401},
		{"/ids.raw", headers{"Authorization: Bearer se+cret"}, 200},
		{"/ids.raw", headers{"Authorization: bearer se+cret"}, 200},
		{"/ids.raw", headers{"Authorization: Bearer se+cre"}, 401},
		{"/ids.raw", headers{"Authorization: Bearer"}, 401},
		{"/ids.raw", headers{"Authorization: Bearer "}, 401},
		{"/ids.raw", headers{"Authorization: Basic se+cret"}, 401},
		{"/ids.raw", headers{"Authorization: se+cret"}, 401},
		{"/ids.raw?token=se%2Bcret", nil, 200},
		{"/ids.raw?token=se%2Bcret", headers{"Authorization: Bearer wrong"}, 200},
		{"/ids.raw?token=", nil, 401},
		{"/ids.raw?token=SE%2BCRET", nil, 401},
		{"/nothing", nil, 401}, // does not reveal which files exist
		{"/", nil, 401},
		{"/.wkwfs/preview/color/1/middle.png", nil, 401},
	} {
		reply, body, _ := fetch(t, "GET", url+test.path, test.send)
		if reply.StatusCode != test.status {
			t.Errorf("%s %q: status %d, want %d", test.path, test.send, reply.StatusCode, test.status)
		}
		if challenge := reply.Header.Get("WWW-Authenticate"); (challenge == `Bearer realm="wkwfs"`) != (test.status == 401) {
			t.Errorf("%s %q: WWW-Authenticate is %q", test.path, test.send, challenge)
		}
		if strings.Contains(string(body), "cret") && test.status == 401 {
			t.Errorf("%s: the reply has the token:\n%s", test.path, body)
		}
		if caching := reply.Header.Get("Cache-Control"); test.status == 200 && caching != "private, no-cache" {
			t.Errorf("%s: Cache-Control is %q", test.path, caching)
		}
	}
	// The links of a page have the token if the request had it in its query, not if it was in a header.
	_, body, _ := fetch(t, "GET", url+"/color/1?token=se%2Bcret", headers{"Accept: text/html"})
	if want := `href="/color/1/volume.raw?token=se%2Bcret"`; !strings.Contains(string(body), want) {
		t.Errorf("the page lacks %s:\n%s", want, body)
	}
	_, body, _ = fetch(t, "GET", url+"/color/1", headers{"Accept: text/html", "Authorization: Bearer se+cret"})
	if strings.Contains(string(body), "token") {
		t.Errorf("the page has the token:\n%s", body)
	}
}

func TestOrigins(t *testing.T) {
	const allow, expose, resource = "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
		"Cross-Origin-Resource-Policy"
	for _, test := range []struct {
		name    string
		origins []string
		send    headers
		allowed string
		vary    string
	}{
		{"all", []string{"https://b.org", "*"}, headers{"Origin: https://a.org"}, "*", ""},
		{"all, no origin", []string{"*"}, nil, "*", ""},
		{"nobody", nil, headers{"Origin: https://a.org"}, "", ""},
		{"nobody, a page without an origin", nil, headers{"Origin: null"}, "", ""},
		{"nobody, no origin", nil, nil, "", ""},
		{"one", []string{"https://a.org", "https://b.org"}, headers{"Origin: https://b.org"}, "https://b.org",
			"Origin"},
		{"another", []string{"https://a.org"}, headers{"Origin: https://a.org.evil.org"}, "", "Origin"},
		{"none", []string{"https://a.org"}, nil, "", "Origin"},
	} {
		url := start(t, newTree(), web.Options{Origins: test.origins, Token: "secret"})
		// errors are readable, too
		for _, path := range []string{"/ids.raw?token=secret", "/nothing?token=secret", "/ids.raw"} {
			reply, _, _ := fetch(t, "GET", url+path, test.send)
			h := reply.Header
			if h.Get(allow) != test.allowed || strings.Contains(h.Get(expose),
				"Content-Range") != (test.allowed != "") ||
				(h.Get(resource) == "cross-origin") != (test.allowed != "") {
				t.Errorf("%s %s: %v", test.name, path, h)
			}
			if test.vary != "" && h.Values("Vary")[0] != test.vary {
				t.Errorf("%s %s: Vary is %q", test.name, path, h.Values("Vary"))
			}
		}
		reply, body, _ := fetch(t, "OPTIONS", url+"/ids.raw",
			append(headers{"Access-Control-Request-Method: GET", "Access-Control-Request-Headers: authorization,range",
				"Access-Control-Request-Private-Network: true"}, test.send...))
		h := reply.Header
		granted := h.Get(allow) == test.allowed &&
			strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization, Range") &&
			h.Get("Access-Control-Allow-Methods") == "GET, HEAD, OPTIONS" &&
			h.Get("Access-Control-Allow-Private-Network") == "true"
		if reply.StatusCode != 204 || len(body) > 0 || granted != (test.allowed != "") {
			t.Errorf("%s: preflight: status %d, %v", test.name, reply.StatusCode, h)
		}
	}
}
