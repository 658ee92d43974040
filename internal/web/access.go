package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
)

// tokenParameter is the parameter of the query that has the token.
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

// isToken compares in a time that tells neither the token nor its length.
func (h *handler) isToken(given string) bool {
	want, got := sha256.Sum256([]byte(h.options.Token)), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// linkToken is the token that links of a page need: who came with a link cannot send
// a header. Empty if the request did without.
func (h *handler) linkToken(r *http.Request) string {
	if h.options.Token == "" || !h.isToken(r.URL.Query().Get(tokenParameter)) {
		return ""
	}
	return h.options.Token
}

const (
	methods = "GET, HEAD, OPTIONS"
	// What scripts may send and see beyond what they always may.
	sentHeaders = "Authorization, Range, If-Match, If-None-Match, If-Modified-Since, If-Range, If-Unmodified-Since, Cache-Control, Content-Type"
	seenHeaders = "Accept-Ranges, Content-Encoding, Content-Length, Content-Range, ETag, Last-Modified, Retry-After, WWW-Authenticate"
	// preflightAge is for how many seconds a browser need not ask again: two hours is
	// the most that one believes.
	preflightAge = "7200"
)

// allowOrigin lets scripts of other sites read, if they may.
func (h *handler) allowOrigin(header http.Header, r *http.Request) {
	header.Set("X-Content-Type-Options", "nosniff")
	origin := r.Header.Get("Origin")
	switch {
	case len(h.options.Origins) == 0:
		origin = "*"
		header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	default:
		header.Add("Vary", "Origin")
		if !slices.Contains(h.options.Origins, origin) {
			header.Set("Cross-Origin-Resource-Policy", "same-origin")
			return
		}
		header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", seenHeaders)
}

// preflight answers a browser that asks whether a script may send a request. It does
// so without the token, and what it learns is not secret.
func (h *handler) preflight(w *response, r *http.Request) error {
	header := w.Header()
	header.Set("Allow", methods)
	if header.Get("Access-Control-Allow-Origin") != "" {
		header.Set("Access-Control-Allow-Methods", methods)
		header.Set("Access-Control-Allow-Headers", sentHeaders)
		header.Set("Access-Control-Max-Age", preflightAge)
		if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
			header.Set("Access-Control-Allow-Private-Network", "true")
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
