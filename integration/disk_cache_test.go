package integration

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestDiskCache: what was read once is read from the disk cache, also by a later mount, and after the first was killed.
// A damaged cache is read again from the server.
func TestDiskCache(t *testing.T) {
	t.Parallel()
	requireFUSE(t)
	files := newFileServer(t, refdata.Dir(t, "l4_sample", ".."))
	var sent atomic.Int64 // answers with bytes of files
	counting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && filepath.Ext(r.URL.Path) == ".wkw" {
			sent.Add(1)
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(counting.Close)
	url, cache := counting.URL+"/l4_sample?token=geheim", filepath.Join(tempDir(t), "cache")
	want := wholeFiles(t, mount(t, refdata.Dir(t, "l4_sample")))
	check := func(step string, m *server) {
		t.Helper()
		if got := wholeFiles(t, m.dir); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", step, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
	first, second := mountServer(t, url, "--disk-cache", cache), mountServer(t, url, "--disk-cache", cache)
	check("the first mount", first)
	check("a second mount", second)
	second.stop(t)
	first.signal(t, syscall.SIGKILL)
	first.wantExit(t, -1)
	if sent.Swap(0) == 0 {
		t.Error("the server got no requests")
	}

	third := mountServer(t, url, "--disk-cache", cache)
	check("after a restart", third)
	disk := statusOf(t, third.dir).DiskCache
	if n := sent.Load(); n > 0 || disk.Hits == 0 || disk.Misses > 0 || disk.UsedBytes == 0 || disk.Dir != cache {
		t.Errorf("after a restart, the server got %d requests: %+v", n, disk)
	}
	third.stop(t)

	damagePieces(t, cache)
	fourth := mountServer(t, url, "--disk-cache", cache)
	check("a damaged cache", fourth)
	if disk := statusOf(t, fourth.dir).DiskCache; sent.Load() == 0 || disk.Damaged == 0 {
		t.Errorf("a damaged cache: %d requests, %+v", sent.Load(), disk)
	}
}

// damagePieces changes a byte in the first page of voxels of each file of a cache.
func damagePieces(t *testing.T, cache string) {
	t.Helper()
	pieces, err := filepath.Glob(filepath.Join(cache, "v1", "??", "*"))
	if err != nil || len(pieces) == 0 {
		t.Fatalf("the cache has no files: %v", err)
	}
	for _, name := range pieces {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		var b [1]byte
		if _, err = f.ReadAt(b[:], 4096+2); err == nil {
			b[0] ^= 0x10
			_, err = f.WriteAt(b[:], 4096+2)
		}
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
}
