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
	"github.com/wkwfs/wkwfs/internal/jobs/sample"
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
	if len(lines) != maxWarnings+1 || lines[0] != "warning: number 0" ||
		lines[maxWarnings] != "warning: there are more, in the log" || len(w.take()) != len(lines) {
		t.Errorf("got %q", lines)
	}
	if n := strings.Count(log.String(), "\n"); n != maxWarnings+4 {
		t.Errorf("%d lines in the log", n)
	}
}

// TestLookPanics: a panic of the search for gaps is logged, and the server goes on without it.
func TestLookPanics(t *testing.T) {
	dir := t.TempDir()
	if err := sample.Write(t.Context(), filepath.Join(dir, "cortex"), smallSample()); err != nil {
		t.Fatal(err)
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

// TestLookOverNetwork: a server looks for gaps with few requests, in a dataset of any format, and tells of files that
// the metadata name in another way.
func TestLookOverNetwork(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "cortex")
	if err := sample.Write(t.Context(), source, smallSample()); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"cp", "-q", source, "color/ome.zarr", filepath.Join(dir, "zarr")},
		{"cp", "-q", source, "color/precomputed", filepath.Join(dir, "precomputed")}} {
		if r := run(args, &strings.Builder{}, &strings.Builder{}); r != 0 {
			t.Fatal(args, r)
		}
	}
	var requests atomic.Int64
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		entries, err := os.ReadDir(filepath.Join(dir, r.URL.Path))
		if err != nil || !strings.HasSuffix(r.URL.Path, "/") {
			files.ServeHTTP(w, r)
			return
		}
		fmt.Fprint(w, "<title>Index of /</title>") // as nginx and Apache have it
		for _, e := range entries {
			fmt.Fprintf(w, "<a href=\"%s%s\">x</a>\n", e.Name(), map[bool]string{true: "/"}[e.IsDir()])
		}
	}))
	defer server.Close()
	look := func(name string) (told string, n int64) {
		url := server.URL + "/" + name
		opened, err := dataset.Open(t.Context(), url, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		var lines warnings
		before := requests.Load()
		<-lookForGaps(opened, url, cache.New(64<<20), lines.also(slog.New(slog.DiscardHandler)))
		return strings.Join(lines.take(), "\n"), requests.Load() - before
	}
	for name, limit := range map[string]int64{"cortex": 40, "cortex/color/1": 12, "zarr": 10, "precomputed": 4} {
		if told, n := look(name); n > limit || told != "" {
			t.Errorf("%s: %d requests, expected at most %d: %q", name, n, limit, told)
		}
	}
	chunks := filepath.Join(dir, "precomputed/1")
	names, err := os.ReadDir(chunks)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if err := os.Rename(filepath.Join(chunks, n.Name()), filepath.Join(chunks, n.Name()+".lz4")); err != nil {
			t.Fatal(err)
		}
	}
	if told, _ := look("precomputed"); !strings.Contains(told, "not read") {
		t.Errorf("files with an unknown suffix: %q", told)
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
		if got := strings.Contains(lines,
			"8_8_30/info: unsupported size of chunks, 16,16,1048576 voxels"); got != want {
			t.Errorf("with %d bytes of cache: %q, expected the size of chunks: %t", size, lines, want)
		}
	}
}
