package web

import (
	"crypto/rand"
	"net/http"
	"sync/atomic"
)

// OneTimeLink returns a handler that passes on all requests to next, but those for path. The first of these that is
// allowed gets a redirection to target, later ones status 410, and those that are not allowed status 403. So a path
// that other users can see, such as an argument of a browser, can lead to a target that is secret.
func OneTimeLink(next http.Handler, target string, allowed func(*http.Request) bool) (h http.Handler, path string) {
	path = "/" + ownPrefix + "open/" + rand.Text()
	var used atomic.Bool
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path || r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		switch {
		case !allowed(r):
			http.Error(w, "this link is for the user who runs wkwfs view; use the link in the terminal",
				http.StatusForbidden)
		case used.Swap(true):
			http.Error(w, "this link opened the viewer once; use the link in the terminal", http.StatusGone)
		default:
			w.Header().Set("Location", target)
			w.WriteHeader(http.StatusSeeOther)
		}
	}), path
}
