package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestServersTuneForObjects: each server adapts the Go runtime to a SOURCE with a URL, and to no other.
func TestServersTuneForObjects(t *testing.T) {
	dir := writeSmall(t)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	tuned := 0
	saved := tuneForObjects
	tuneForObjects = func() { tuned++ }
	t.Cleanup(func() { tuneForObjects = saved })
	logger := slog.New(slog.DiscardHandler)
	for name, open := range map[string]func(path string) error{
		"nfs": func(path string) error {
			_, err := new(nfsSettings).open(path, new(diskCache), logger)
			return err
		},
		"serve": func(path string) error {
			s := webSettings{source: path, cacheSize: 1 << 20}
			site, err := s.open(io.Discard, nil, viewerChoice{})
			if err == nil {
				site.close()
			}
			return err
		},
	} {
		for path, want := range map[string]int{dir: 0, server.URL: 1} {
			tuned = 0
			if err := open(path); err != nil || tuned != want {
				t.Errorf("%s %s: %v, tuned %d times, expected %d", name, path, err, tuned, want)
			}
		}
	}
}
