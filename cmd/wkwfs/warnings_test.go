package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// TestPlainLogger: warnings and errors are lines for people, without control characters.
func TestPlainLogger(t *testing.T) {
	var out strings.Builder
	log := plainLogger(&out)
	log.Info("started")
	log.Warn("dataset shown without its metadata", "err", errors.New("file: cut\noff"))
	log.With("source", "s").Warn("geometry taken from a cube", "cube", "x0.wkw")
	log.WithGroup("g").Error("cannot read", "err", errors.New("\x1b[31mred"))
	want := "wkwfs: warning: dataset shown without its metadata: file: cut; off\n" +
		"wkwfs: warning: geometry taken from a cube (source s, cube x0.wkw)\n" +
		"wkwfs: cannot read: " + `\x1b[31mred` + "\n"
	if out.String() != want {
		t.Errorf("got %q\nexpected %q", out.String(), want)
	}
}

// TestWarnings: the lines for the terminal go to the log, too. There are not many, and none after they were taken.
func TestWarnings(t *testing.T) {
	var log strings.Builder
	var w warnings
	logger := w.also(slog.New(slog.NewTextHandler(&log, nil)))
	logger.Info("of no interest on a terminal")
	for i := range maxWarnings + 2 {
		logger.Warn(fmt.Sprint("number ", i))
	}
	lines := w.take()
	logger.Warn("too late")
	if len(lines) != maxWarnings+1 || lines[0] != "warning: number 0" || lines[maxWarnings] != "warning: there are more, in the log" || len(w.take()) != len(lines) {
		t.Errorf("got %q", lines)
	}
	if n := strings.Count(log.String(), "\n"); n != maxWarnings+4 {
		t.Errorf("%d lines in the log", n)
	}
}

// TestLookPanics: a panic of the search for gaps is logged, and the server goes on without it.
func TestLookPanics(t *testing.T) {
	dir := t.TempDir()
	if r := run([]string{"sample", filepath.Join(dir, "cortex")}, &strings.Builder{}, &strings.Builder{}); r != 0 {
		t.Fatal(r)
	}
	opened, err := dataset.Open(t.Context(), filepath.Join(dir, "cortex"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	logged := make(chan string, 1)
	guard.LogTo(slog.New(plainHandler{print: func(line string) { logged <- line }}))
	defer guard.LogTo(nil)
	defer guard.Inject(func(place string) {
		if place == "gaps.look" {
			panic("injected")
		}
	})()
	<-lookForGaps(opened, filepath.Join(dir, "cortex"), nil, slog.New(slog.DiscardHandler))
	if line := <-logged; !strings.Contains(line, "panic in gaps.look: injected") {
		t.Errorf("the log has %q", line)
	}
}

// TestLookOverNetwork: a server sends no request to look for gaps, in a dataset of any format.
func TestLookOverNetwork(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "cortex")
	for _, args := range [][]string{{"sample", source}, {"cp", "-q", source, "color/ome.zarr", filepath.Join(dir, "zarr")}, {"cp", "-q", source, "color/precomputed", filepath.Join(dir, "precomputed")}} {
		if r := run(args, &strings.Builder{}, &strings.Builder{}); r != 0 {
			t.Fatal(args, r)
		}
	}
	var requests atomic.Int64
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	for _, name := range []string{"cortex", "cortex/color/1", "zarr", "precomputed"} {
		url := server.URL + "/" + name
		opened, err := dataset.Open(t.Context(), url, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		before := requests.Load()
		<-lookForGaps(opened, url, cache.New(64<<20), slog.New(slog.DiscardHandler))
		if n := requests.Load() - before; before == 0 || n != 0 {
			t.Errorf("%s: %d requests to open it, and then %d", name, before, n)
		}
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestWarnOfLargeChunks: a server says when it starts which mags it refuses because of the size of their chunks.
func TestWarnOfLargeChunks(t *testing.T) {
	dir := t.TempDir()
	info := `{"type":"image","data_type":"uint8","num_channels":1,"scales":[{"key":"8_8_30","size":[16,16,1048576],"resolution":[8,8,30],"voxel_offset":[0,0,0],
		"chunk_sizes":[[16,16,1048576]],"encoding":"raw"}]}`
	if err := os.WriteFile(filepath.Join(dir, "info"), []byte(info), 0o644); err != nil {
		t.Fatal(err)
	}
	opened, err := dataset.Open(t.Context(), dir, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int64]bool{64 << 20: true, 1 << 30: false} {
		var told warnings
		<-lookForGaps(opened, dir, cache.New(size), told.also(slog.New(slog.DiscardHandler)))
		lines := strings.Join(told.take(), "\n")
		if got := strings.Contains(lines, "8_8_30/info: unsupported size of chunks, 16,16,1048576 voxels"); got != want {
			t.Errorf("with %d bytes of cache: %q, expected the size of chunks: %t", size, lines, want)
		}
	}
}
