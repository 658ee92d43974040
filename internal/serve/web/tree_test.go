package web_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/serve/web"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// tree is a file system in memory that counts the bytes that are read.
type tree struct {
	mu    sync.Mutex
	files map[string]*leaf
	read  atomic.Int64 // bytes
}

// leaf is a file of the tree.
type leaf struct {
	data    []byte
	version byte
	err     error         // of Open and Stat
	broken  int           // offset of the first damaged byte; 0: none; -1: reads fail with fs.ErrNotExist
	size    int64         // that Stat reports, if not 0
	block   chan struct{} // if not nil, reads wait until it is closed
}

// errBroken is the error of damaged bytes.
var errBroken = errors.New("color/1/z0/y0/x0.wkw: block 7 at byte 4096: expected 512 bytes of LZ4, found 100")

var modified = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

func newTree() *tree {
	return &tree{files: map[string]*leaf{
		"color/1/volume.raw":  {data: noise(1 << 20)},
		"color/1/volume.json": {data: []byte(`{"dtype":"uint8"}`)},
		"ids.raw":             {data: bytes.Repeat([]byte{1, 2, 3, 4}, 100_000)},
		"broken.raw":          {data: noise(2 << 20), broken: 1 << 20},
		"dead.raw":            {data: noise(1000), broken: 1},
		"short.raw":           {data: noise(1000), size: 2000},
		"shut.raw":            {err: fs.ErrPermission},
		"many.raw":            {err: syscall.EMFILE},
		"gone.raw":            {data: noise(1000), broken: -1},
		"a b&c%<d>.txt":       {data: []byte("hello")},
		"empty.raw":           {},
	}}
}

// noise returns n bytes that do not compress and differ from offset to offset.
func noise(n int) []byte {
	b := make([]byte, n)
	state := uint32(1)
	for i := range b {
		state = state*1664525 + 1013904223
		b[i] = byte(state >> 24)
	}
	return b
}

func (t *tree) Open(name string) (fs.File, error) {
	info, err := t.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	e := info.(entry)
	return &opened{t, e, bytes.NewReader(e.leaf.data)}, nil
}

func (t *tree) Stat(name string) (fs.FileInfo, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !fs.ValidPath(name) {
		panic("invalid path " + name) // the handler has to reject it
	}
	if l := t.files[name]; l != nil {
		if l.err != nil {
			return nil, &fs.PathError{Op: "stat", Path: name, Err: l.err}
		}
		return entry{path.Base(name), l}, nil
	}
	for other := range t.files {
		if name == "." || strings.HasPrefix(other, name+"/") {
			return entry{path.Base(name), nil}, nil
		}
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

func (t *tree) ReadDir(dir string) ([]fs.DirEntry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := map[string]fs.DirEntry{}
	for name, l := range t.files {
		rest, ok := strings.CutPrefix(name, dir+"/")
		if dir == "." {
			rest, ok = name, true
		}
		if first, _, deep := strings.Cut(rest, "/"); ok && deep {
			found[first] = entry{first, nil}
		} else if ok {
			found[first] = entry{first, l}
		}
	}
	var entries []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(found)) {
		entries = append(entries, found[name])
	}
	return entries, nil
}

// set adds or replaces a file.
func (t *tree) set(name string, l *leaf) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files[name] = l
}

// block adds a file whose reads wait until the channel is closed.
func (t *tree) block(name string) chan struct{} {
	c := make(chan struct{})
	t.set(name, &leaf{data: noise(100), block: c})
	return c
}

// entry describes a file or, without a leaf, a directory.
type entry struct {
	name string
	leaf *leaf
}

func (e entry) Name() string       { return e.name }
func (e entry) IsDir() bool        { return e.leaf == nil }
func (e entry) ModTime() time.Time { return modified }
func (e entry) Sys() any           { return nil }
func (e entry) Details() vfs.Details {
	return vfs.Details{Version: func() vfs.Version { return vfs.Version{0xab, e.leaf.version} }}
}
func (e entry) Type() fs.FileMode          { return e.Mode().Type() }
func (e entry) Info() (fs.FileInfo, error) { return e, e.fault() }

func (e entry) fault() error {
	if e.leaf == nil {
		return nil
	}
	return e.leaf.err
}

func (e entry) Mode() fs.FileMode {
	if e.leaf == nil {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

func (e entry) Size() int64 {
	switch {
	case e.leaf == nil:
		return 0
	case e.leaf.size > 0:
		return e.leaf.size
	}
	return int64(len(e.leaf.data))
}

type opened struct {
	t *tree
	entry
	all *bytes.Reader
}

func (o *opened) Stat() (fs.FileInfo, error) { return o.entry, nil }
func (o *opened) Close() error               { return nil }
func (o *opened) Read(p []byte) (int, error) { return o.all.Read(p) }

func (o *opened) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if o.leaf.block != nil {
		select {
		case <-o.leaf.block:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	switch end := off + int64(len(p)); {
	case o.leaf.broken < 0:
		return 0, &fs.PathError{Op: "open", Path: "color/1/z0/y0/x0.wkw", Err: fs.ErrNotExist}
	case o.leaf.broken > 0 && end > int64(o.leaf.broken):
		return 0, errBroken
	}
	n, err := bytes.NewReader(o.leaf.data).ReadAt(p, off)
	o.t.read.Add(int64(n))
	return n, err
}

// start serves the files and returns the URL.
func start(t *testing.T, fsys fs.FS, o web.Options) string {
	t.Helper()
	return startHandler(t, web.Handler(fsys, o))
}

// startHandler is start for any handler.
func startHandler(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// headers are "Name: value" lines.
type headers []string

// request sends a request with no headers but those given: not even Accept-Encoding.
func request(t *testing.T, method, url string, h headers) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range h {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	reply, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// fetch sends a request, and returns the reply with its body and the error of reading the body.
func fetch(t *testing.T, method, url string, h headers) (*http.Response, []byte, error) {
	t.Helper()
	reply := request(t, method, url, h)
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	return reply, b, err
}

// newLog returns a log and its text.
func newLog(level slog.Level) (*slog.Logger, *strings.Builder) {
	var b strings.Builder
	return slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: level})), &b
}
