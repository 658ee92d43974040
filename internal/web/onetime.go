package web

import (
	"crypto/rand"
	"net/http"
	"sync/atomic"
)

// OneTimeLink returns a handler that passes on all requests to next, but those for path. The first of these gets a
// redirection to target, the others status 410. So a path that other users can see, such as an argument of a browser,
// can lead to a target that is secret.
func OneTimeLink(next http.Handler, target string) (h http.Handler, path string) {
	path = "/" + ownPrefix + "open/" + rand.Text()
	var used atomic.Bool
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path || r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		if used.Swap(true) {
			http.Error(w, "this link opened the viewer once; use the link in the terminal", http.StatusGone)
			return
		}
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusSeeOther)
	}), path
}
