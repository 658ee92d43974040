package view

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/precomputed"
)

// TestChunksTooLargeForCache: a mag whose chunks take more memory than the cache has for them is shown without its
// volume. The error names the mag, its metadata file, and what is expected and found. The other mags, and a larger
// cache, show everything.
func TestChunksTooLargeForCache(t *testing.T) {
	scale := func(key, side string) string {
		return `{"key":"` + key + `","size":[2048,2048,64],"chunk_sizes":[[` + side +
			`,64]],"resolution":[1,1,1],"encoding":"raw"}`
	}
	fsys := fstest.MapFS{
		"info": {Data: []byte(`{"data_type":"uint8","num_channels":1,"scales":[` + scale("large",
			"2048,1024") + "," + scale("small", "64,64") + `]}`)},
		"large/0-2048_0-1024_0-64": {Data: []byte("short")},
		"small/0-64_0-64_0-64":     {Data: make([]byte, 64*64*64)},
	}
	root, err := precomputed.Recognise(fsys, ".", precomputed.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		budget int64
		shown  bool
	}{{64 << 20, false}, {256 << 20, true}} {
		blocks := cache.New(tt.budget)
		defer blocks.Close()
		var log strings.Builder
		tree := New(root, Options{Cache: blocks, Log: slog.New(slog.NewTextHandler(&log, nil))})
		chunks, err := tree.ReadDir("large/chunks")
		if err != nil || len(chunks) == 0 {
			t.Fatalf("%d chunks, %v", len(chunks), err)
		}
		for name, file := range map[string]string{"large/volume.raw": "large/info",
			"large/slices/z0000000.tif": "large/info", "large/chunks/" + chunks[0].Name(): ""} {
			f, err := tree.Open(name)
			want := file +
				": unsupported size of chunks, 2048,1024,64 voxels: expected at most 100663296 bytes while one is decoded (raise --cache-size), found 138412032"
			if tt.shown && err != nil || !tt.shown && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, with a cache of %d bytes: %v, expected that it is shown: %v", name, tt.budget, err,
					tt.shown)
			}
			if err == nil {
				f.Close()
			}
		}
		f, err := tree.Open("small/volume.raw")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.(io.ReaderAt).ReadAt(make([]byte, 64), 0); err != nil {
			t.Error(err)
		}
		f.Close()
		entries, err := tree.ReadDir("large")
		if err != nil || strings.Contains(log.String(), "large/info") == tt.shown {
			t.Errorf("%d entries, %v, log:\n%s", len(entries), err, &log)
		}
	}
}
