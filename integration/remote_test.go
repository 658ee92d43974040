package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// fileServer is a web server of a directory, with an index in the form of nginx.
type fileServer struct {
	*httptest.Server
	dir     string
	noIndex int // what it answers instead of listings; 0: it has them

	mu     sync.Mutex
	broken bool // answers 503
}

func newFileServer(t *testing.T, dir string) *fileServer {
	t.Helper()
	s := &fileServer{dir: dir}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *fileServer) setBroken(broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = broken
}

func (s *fileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	broken := s.broken
	s.mu.Unlock()
	name := filepath.Join(s.dir, filepath.FromSlash(path.Clean("/"+r.URL.Path)))
	info, err := os.Stat(name)
	switch {
	case broken:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Query().Get("token") != "geheim":
		w.WriteHeader(http.StatusForbidden)
	case err != nil:
		w.WriteHeader(http.StatusNotFound)
	case !info.IsDir():
		w.Header().Set("Etag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
		http.ServeFile(w, r, name)
	case !strings.HasSuffix(r.URL.Path, "/"):
		http.Redirect(w, r, r.URL.Path+"/?"+r.URL.RawQuery, http.StatusMovedPermanently)
	case s.noIndex != 0:
		w.WriteHeader(s.noIndex)
	default:
		s.index(w, name)
	}
}

func (s *fileServer) index(w http.ResponseWriter, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	type item struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}
	list := []item{}
	for _, e := range entries {
		kind := "file"
		if e.IsDir() {
			kind = "directory"
		}
		list = append(list, item{e.Name(), kind})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // a client may go away
}

// content is the length and hash of a file.
type content struct {
	bytes int64
	hash  uint64
}

var contentSeed = maphash.MakeSeed()

// contentOf reads a file. It keeps no bytes: the mounts of a test have gigabytes.
func contentOf(name string) (c content, err error) {
	f, err := os.Open(name)
	if err != nil {
		return c, err
	}
	defer f.Close()
	var h maphash.Hash
	h.SetSeed(contentSeed)
	c.bytes, err = io.CopyBuffer(&h, struct{ io.Reader }{f}, make([]byte, 256<<10))
	c.hash = h.Sum64()
	return c, err
}

// wholeFiles returns the contents of the files of voxels in a mount that are not made of single cubes or planes.
func wholeFiles(t *testing.T, dir string) map[string]content {
	t.Helper()
	all := map[string]content{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "slices" || strings.HasSuffix(e.Name(), ".blocks")):
			return fs.SkipDir
		case e.IsDir() || e.Name() == "volume.json" || !strings.HasPrefix(e.Name(), "volume.") &&
			!strings.HasSuffix(e.Name(), ".raw"):
			return nil
		}
		all[strings.TrimPrefix(name, dir)], err = contentOf(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRemoteSources: a URL shows the same files as the directory behind it, with or without listings.
func TestRemoteSources(t *testing.T) {
	t.Parallel()
	requireFUSE(t)
	for _, name := range []string{"l4_sample", "precomputed/sh_one", "zarr/wk_mixed", "zarr/ome05_zyx"} {
		want := wholeFiles(t, mount(t, refdata.Dir(t, name)))
		if len(want) == 0 {
			t.Fatalf("%s has no files", name)
		}
		for _, noIndex := range []int{0, http.StatusForbidden, http.StatusNotFound} {
			s := newFileServer(t, refdata.Dir(t, "l4_sample", ".."))
			s.noIndex = noIndex
			dir := mount(t, s.URL+"/"+name+"?token=geheim")
			if noIndex == 0 {
				if got := wholeFiles(t, dir); !maps.Equal(got, want) {
					t.Errorf("%s: got %v, expected %v", name, got, want)
				}
				continue
			}
			for file, c := range want {
				if got, err := contentOf(dir + file); got != c || err != nil {
					t.Errorf("%s%s, listings are %d: got %v, %v, expected %v", name, file, noIndex, got, err, c)
				}
			}
		}
	}
}

// TestRemoteFaults: while a server fails, reads wait; when the time is over, they fail with EIO, and later they succeed
// again. No secret is shown anywhere.
func TestRemoteFaults(t *testing.T) {
	t.Parallel()
	requireFUSE(t)
	s := newFileServer(t, refdata.Dir(t, "l4_sample", ".."))
	logFile := filepath.Join(tempDir(t), "log")
	m := mountServer(t, s.URL+"/l4_sample?token=geheim", "--timeout", "2s", "--log-file", logFile)
	whole := filepath.Join(m.dir, "color/4-4-2/volume.raw")
	f, err := os.Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s.setBroken(true)
	start := time.Now()
	if _, err := f.ReadAt(make([]byte, 4096), 0); !isErrno(err, "input/output error") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took < 500*time.Millisecond || took > deadline {
		t.Errorf("a read failed after %v", took)
	}
	s.setBroken(false)
	eventually(t, "the file can be read again", func() bool {
		b, err := os.ReadFile(whole)
		return len(b) > 0 && err == nil
	})
	status := mustRun(t, "status", "--json", m.dir)
	log, err := os.ReadFile(logFile)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"log": string(log), "status": status,
		"mount table": fmt.Sprint(mountsAt(m.dir)[0])} {
		if strings.Contains(text, "geheim") || !strings.Contains(text, "/l4_sample") {
			t.Errorf("%s: %s", what, text)
		}
	}
	if !strings.Contains(string(log), "503 Service Unavailable") {
		t.Errorf("the log is %s", log)
	}
}

func isErrno(err error, text string) bool { return err != nil && strings.HasSuffix(err.Error(), text) }

// TestPathsThatAreURLs: mags with a URL as their path are shown if --follow-links is given, or if the URL is inside of
// the source.
func TestPathsThatAreURLs(t *testing.T) {
	t.Parallel()
	requireFUSE(t)
	s := newFileServer(t, refdata.Dir(t, "l4_sample", ".."))
	s.noIndex = http.StatusForbidden
	text, err := os.ReadFile(refdata.Dir(t, "l4_sample/datasource-properties.json"))
	if err != nil {
		t.Fatal(err)
	}
	var properties map[string]any
	if err := json.Unmarshal(text, &properties); err != nil {
		t.Fatal(err)
	}
	for _, layer := range properties["dataLayers"].([]any) {
		l := layer.(map[string]any)
		delete(l, "wkwResolutions")
		l["mags"] = []any{map[string]any{"mag": []int{4, 4, 2},
			"path": s.URL + "/l4_sample/" + l["name"].(string) + "/4-4-2?token=geheim"}}
	}
	dir := tempDir(t)
	if text, err = json.Marshal(properties); err == nil {
		err = os.WriteFile(filepath.Join(dir, "datasource-properties.json"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	const file = "/color/4-4-2/volume.raw"
	want, err := os.ReadFile(mount(t, refdata.Dir(t, "l4_sample")) + file)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(mount(t, dir, "--follow-links") + file); string(got) != string(want) || err != nil {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if r := wkwfs(t, "info", dir); strings.Contains(r.stdout, "4-4-2  uint8") {
		t.Errorf("without --follow-links: %s", r.stdout)
	}
}

// TestOpenFileIsOneVersion: a cube is replaced while it is open, on a web server that ignores conditions, and whose
// answers say the ETag only to HEAD, only to GET, or to both. No read has bytes of the new cube. The next open has all
// of them.
func TestOpenFileIsOneVersion(t *testing.T) {
	t.Parallel()
	requireFUSE(t)
	for name, gives := range map[string]func(method string) bool{
		"HEAD": func(method string) bool { return method == http.MethodHead },
		"GET":  func(method string) bool { return method == http.MethodGet },
		"both": func(string) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := model{blockLog: 5, cubeLog: 2, blockType: 1, voxelType: 1, channels: 1}
			now := old
			now.seed = 0x5a << 15
			dir := layer{model: old, size: [3]int{128, 128, 128}, cubes: map[[3]int]bool{{0, 0, 0}: true}}.write(t)
			old.writeHeader(t, filepath.Join(dir, "color/1"))
			cubes := [][]byte{old.file(t), now.file(t)}
			var replaced atomic.Int32
			files := newFileServer(t, dir)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.Header.Del("If-Match")
				if r.URL.Path != "/color/1/z0/y0/x0.wkw" {
					files.ServeHTTP(w, r)
					return
				}
				n := replaced.Load()
				if gives(r.Method) {
					w.Header().Set("Etag", fmt.Sprintf(`"%d"`, n))
				}
				http.ServeContent(w, r, "x0.wkw", time.Time{}, bytes.NewReader(cubes[n]))
			}))
			t.Cleanup(server.Close)
			path := filepath.Join(mount(t, server.URL+"?token=geheim"), "color/1/z0/y0/x0.raw")
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			want := old.flat()
			read := func(off int64) error {
				got := make([]byte, 4096)
				_, err := f.ReadAt(got, off)
				if err == nil && !bytes.Equal(got, want[off:][:4096]) {
					t.Errorf("byte %d: not the bytes of the version that was opened", off)
				}
				return err
			}
			last := int64(len(want)) - 4096
			if err := read(0); err != nil {
				t.Fatal(err)
			}
			replaced.Store(1)
			if err := read(last); !isErrno(err, "input/output error") {
				t.Errorf("after the change: got %v", err)
			}
			eventually(t, "the new cube is read", func() bool {
				got, err := os.ReadFile(path)
				return err == nil && bytes.Equal(got, now.flat())
			})
		})
	}
}
