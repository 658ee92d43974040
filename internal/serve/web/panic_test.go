package web

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/volume"
)

// inject makes the next goroutine that passes a place panic. injected reports whether one did.
func inject(t *testing.T, at string) (injected func() bool) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	var done atomic.Bool
	restore := guard.Inject(func(place string) {
		if place == at && !done.Swap(true) {
			panic("injected")
		}
	})
	t.Cleanup(func() { restore(); guard.LogTo(nil) })
	return done.Load
}

// panicking is a tree. Reads of the file "broken" panic from byte 2 MiB on.
type panicking struct{ fs.FS }

func (p panicking) Open(name string) (fs.File, error) {
	f, err := p.FS.Open(name)
	if name == "broken" {
		f = panickingFile{f}
	}
	return f, err
}

type panickingFile struct{ fs.File }

func (f panickingFile) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > 2<<20 {
		panic("in ReadAt")
	}
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

// TestPanics: a panic is status 500, or cuts a reply that has begun. The log has its stack once, with the path. Other
// requests are answered, and the slot of the request is given back.
func TestPanics(t *testing.T) {
	injected := inject(t, "web.request")
	var log bytes.Buffer
	files := fstest.MapFS{"broken": {Data: make([]byte, 3<<20)}, "other": {Data: []byte("fine")}}
	before := guard.Count()
	h := Handler(panicking{files}, Options{MaxRequests: 1, Log: slog.New(slog.NewTextHandler(&log, nil))})
	server := httptest.NewServer(h)
	defer server.Close()
	for _, r := range []struct {
		path, ranges string
		status       int
		cut          bool
	}{
		{"/other", "", 500, false}, // the injected panic
		{"/other", "", 200, false},
		{"/broken", "bytes=0-9", 206, false},
		{"/broken", "bytes=2097152-2097153", 500, false},
		{"/broken", "bytes=2097152-2097153,5-6", 500, false},
		{"/broken", "", 200, true},
		{"/broken", "", 200, true},
		{"/other", "", 200, false},
	} {
		q, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+r.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.ranges != "" {
			q.Header.Set("Range", r.ranges)
		}
		reply, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
		if reply.StatusCode != r.status || (err != nil) != r.cut {
			t.Errorf("%+v: status %d, %v", r, reply.StatusCode, err)
		}
	}
	got := log.String()
	if !injected() || guard.Count()-before != 5 || !strings.Contains(got, "panickingFile.ReadAt(") ||
		strings.Count(got, "stack=") > 4 || strings.Count(got, "path=broken") == 0 ||
		strings.Count(got, "path=other") != 1 {
		t.Errorf("%d panics, logged\n%s", guard.Count()-before, got)
	}
}

// TestContrastPanics: a layer whose contrast panics is shown without, and the others have theirs.
func TestContrastPanics(t *testing.T) {
	injected := inject(t, "web.contrast")
	files := fstest.MapFS{}
	h := Handler(files, Options{}).(*handler)
	var shown []*precomputed
	var layers []ngLayer
	for _, dir := range []string{"a/1", "b/1"} {
		info := volumeInfo{Dtype: "uint8", Channels: 1, Shape: volume.Cube(10), Bytes: 1000}
		files[dir+"/"+
			tree.VolumeJSON] = &fstest.MapFile{Data: []byte(
			`{"dtype":"uint8","channels":1,"shape":[10,10,10],"bytes":1000}`)}
		for _, box := range info.sampleBoxes() {
			voxels := make([]byte, 1000)
			for i := range voxels {
				voxels[i] = byte(i)
			}
			files[dir+"/"+tree.Boxes+"/"+tree.BoxName(box)+tree.Raw] = &fstest.MapFile{Data: voxels}
		}
		p := &precomputed{mags: []mag{{dir: dir, info: info}}}
		p.info.Channels = 1
		shown, layers = append(shown, p), append(layers, ngLayer{Type: "image", Shader: shader(1)})
	}
	h.setContrast(t.Context(), shown, layers)
	if measured := len(layers[0].Controls) + len(layers[1].Controls); !injected() || measured != 1 {
		t.Errorf("%d layers have a contrast", measured)
	}
}

// TestShutdownPanics: a server ends, even if its shutdown panics.
func TestShutdownPanics(t *testing.T) {
	injected := inject(t, "web.shutdown")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Serve(ctx, l, http.NotFoundHandler(), slog.New(slog.DiscardHandler)); err != nil || !injected() {
		t.Errorf("got %v", err)
	}
}
