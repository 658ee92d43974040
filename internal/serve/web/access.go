package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
)

// tokenParameter is the query parameter that holds the token.
const tokenParameter = "token"

// authorised reports whether the request has the token, if one is needed.
func (h *handler) authorised(r *http.Request) bool {
	if h.options.Token == "" {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") && h.isToken(strings.TrimSpace(given)) {
		return true
	}
	return h.isToken(r.URL.Query().Get(tokenParameter))
}

// isToken reports whether given is the token. Its duration reveals neither the token nor its length.
func (h *handler) isToken(given string) bool {
	want, got := sha256.Sum256([]byte(h.options.Token)), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// linkToken returns the token for the links of a page, or "" if they need none. A browser that follows links cannot
// send a header, so the links have the token if the request had it in its query.
func (h *handler) linkToken(r *http.Request) string {
	if h.options.Token == "" || !h.isToken(r.URL.Query().Get(tokenParameter)) {
		return ""
	}
	return h.options.Token
}

// The CORS headers have these values. Scripts may always use some more headers than those listed.
const (
	allowedMethods = "GET, HEAD, OPTIONS"
	allowedHeaders = "Authorization, Range, If-Match, If-None-Match, If-Modified-Since, If-Range, If-Unmodified-Since, Cache-Control, Content-Type"
	exposedHeaders = "Accept-Ranges, Content-Encoding, Content-Length, Content-Range, ETag, Last-Modified, Retry-After, WWW-Authenticate"
	// preflightMaxAge is the time in seconds for which a browser may cache a preflight. Chromium accepts at most two
	// hours.
	preflightMaxAge = "7200"
)

// allowOrigin sets the headers that let scripts of other sites read the reply, if their site is allowed.
func (h *handler) allowOrigin(header http.Header, r *http.Request) {
	header.Set("X-Content-Type-Options", "nosniff")
	origin := "*"
	if !slices.Contains(h.options.Origins, "*") {
		origin = r.Header.Get("Origin")
		if len(h.options.Origins) > 0 {
			header.Add("Vary", "Origin")
		}
		if !slices.Contains(h.options.Origins, origin) {
			header.Set("Cross-Origin-Resource-Policy", "same-origin")
			return
		}
	}
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", exposedHeaders)
}

// preflight answers a browser that asks whether a script may send a request. Browsers send no token with it. The reply
// reveals nothing secret.
func (h *handler) preflight(w *response, r *http.Request) error {
	header := w.Header()
	header.Set("Allow", allowedMethods)
	if header.Get("Access-Control-Allow-Origin") != "" {
		header.Set("Access-Control-Allow-Methods", allowedMethods)
		header.Set("Access-Control-Allow-Headers", allowedHeaders)
		header.Set("Access-Control-Max-Age", preflightMaxAge)
		if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
			header.Set("Access-Control-Allow-Private-Network", "true")
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
