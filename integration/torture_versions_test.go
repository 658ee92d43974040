package integration

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// versionsTrial reads from a web server that tells little about the versions of a cube, which is replaced at any time:
// less to HEAD than to GET, or more. All bytes of an open file are of one version, or a read fails, if the server tells
// anything that differs.
var versionsTrial = torture.New("versions", newVersionsCase, runVersions)

type versionsCase struct {
	Head      versionsAnswer `json:"head"`
	Get       versionsAnswer `json:"get"`
	SameTime  bool           `json:"same_time,omitempty"` // all versions have the same time,
	SameWeak  bool           `json:"same_weak,omitempty"` // or the same weak ETag
	Ignores   bool           `json:"ignores,omitempty"`   // conditions
	NoSize    bool           `json:"no_size,omitempty"`   // ranges are of a file of unknown size
	Whole     bool           `json:"whole,omitempty"`     // ranges are ignored
	DiskCache bool           `json:"disk_cache,omitempty"`
	Steps     []versionsStep `json:"steps"`
}

// versionsAnswer is what answers say about the version.
type versionsAnswer struct {
	Tag  string `json:"tag,omitempty"` // "weak", "strong" or nothing
	Time bool   `json:"time,omitempty"`
}

// versionsStep opens a file, reads from it, or replaces the cube.
type versionsStep struct {
	Op   string       `json:"op"`
	File int          `json:"file"` // of versionsFiles, or of those that are open
	Read torture.Seed `json:"read"`
}

var versionsLayer = layer{
	model: model{blockLog: 3, cubeLog: 2, blockType: 1, voxelType: 1, channels: 1},
	size:  [3]int{40, 32, 32},
	cubes: map[[3]int]bool{{0, 0, 0}: true},
}

// ofVersion returns the layer with a version of its cube.
func (l layer) ofVersion(n int) layer {
	l.seed = uint32(n) << 15
	return l
}

// versionsFiles are files of the mag, and their bytes.
var versionsFiles = []struct {
	name    string
	content func(layer) []byte
}{
	{"z0/y0/x0.raw", func(l layer) []byte { return l.flat() }},
	{"z0/y0/x0.blocks/z3/y3/x3.raw", func(l layer) []byte { return l.part(24, 24, 24, 8) }},
	{"volume.raw", func(l layer) []byte { return l.box(l.min, l.max()) }},
	{"box/10-40_5-30_3-20.raw", func(l layer) []byte { return l.box([3]int{10, 5, 3}, [3]int{40, 30, 20}) }},
}

func newVersionsCase(r *rand.Rand) versionsCase {
	answer := func() versionsAnswer {
		return versionsAnswer{randomOf(r, []string{"", "weak", "strong"}), r.IntN(2) == 0}
	}
	flag := func(oneIn int) bool { return r.IntN(oneIn) == 0 }
	c := versionsCase{
		Head: answer(), Get: answer(), SameTime: flag(2), SameWeak: flag(2), Ignores: flag(2), NoSize: flag(4),
		Whole: flag(8), DiskCache: flag(4),
	}
	for range 5 + r.IntN(60) {
		c.Steps = append(c.Steps, versionsStep{randomOf(r, []string{"open", "open", "read", "read", "read", "read",
			"replace"}), r.IntN(100), torture.Seed(r.Uint64())})
	}
	return c
}

// promises reports whether the server tells anything that differs between two versions.
func (c versionsCase) promises() bool {
	for _, answer := range []versionsAnswer{c.Head, c.Get} {
		if answer.Tag == "strong" || answer.Tag == "weak" && !c.SameWeak || answer.Time && !c.SameTime {
			return true
		}
	}
	return false
}

// versionsServer is the server of a case.
type versionsServer struct {
	versionsCase
	files *fileServer
	now   atomic.Int32 // the version of the cube
	cubes [][]byte     // by version
}

func (s *versionsServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/color/1/z0/y0/x0.wkw" {
		s.files.ServeHTTP(w, r)
		return
	}
	n := int(s.now.Load())
	answer := s.Get
	if r.Method == http.MethodHead {
		answer = s.Head
	}
	var changed time.Time
	if answer.Time {
		if changed = time.Unix(1000, 0); !s.SameTime {
			changed = changed.Add(time.Duration(n) * time.Second)
		}
	}
	switch {
	case answer.Tag == "strong":
		w.Header().Set("Etag", fmt.Sprintf(`"%d"`, n))
	case answer.Tag == "weak" && s.SameWeak:
		w.Header().Set("Etag", `W/"weak"`)
	case answer.Tag == "weak":
		w.Header().Set("Etag", fmt.Sprintf(`W/"%d"`, n))
	}
	if s.Ignores || answer.Tag != "strong" {
		r.Header.Del("If-Match")
	}
	if s.Whole {
		r.Header.Del("Range")
	}
	if s.NoSize {
		w = noSize{w}
	}
	http.ServeContent(w, r, "x0.wkw", changed, bytes.NewReader(s.cubes[n]))
}

// noSize hides the size of a file in answers with a range of it.
type noSize struct{ http.ResponseWriter }

func (w noSize) WriteHeader(status int) {
	var first, last, size int64
	if _, err := fmt.Sscanf(w.Header().Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &size); err == nil {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/*", first, last))
	}
	w.ResponseWriter.WriteHeader(status)
}

// versionsOpen is an open file.
type versionsOpen struct {
	*os.File
	file     int
	versions []int // whose bytes are all that it has read
}

func runVersions(t testing.TB, c versionsCase) {
	source := versionsLayer.write(t)
	versionsLayer.writeHeader(t, filepath.Join(source, "color/1"))
	s := &versionsServer{versionsCase: c, files: &fileServer{dir: source}}
	for n := range len(c.Steps) + 1 {
		s.cubes = append(s.cubes, versionsLayer.ofVersion(n).file(t))
	}
	web := httptest.NewServer(s)
	defer web.Close()
	var args []string
	if c.DiskCache {
		args = []string{"--disk-cache", tempDir(t)}
	}
	m := mountServer(t, web.URL+"?token=geheim", args...)
	defer m.stop(t)
	dir := filepath.Join(m.dir, "color/1")
	var opened []*versionsOpen
	defer func() {
		for _, f := range opened {
			f.Close()
		}
	}()
	for n, step := range c.Steps {
		switch {
		case step.File < 0:
			t.Skip("no file")
		case step.Op == "replace":
			s.now.Add(1)
		case step.Op == "open":
			file := step.File % len(versionsFiles)
			f, err := os.OpenFile(filepath.Join(dir, versionsFiles[file].name),
				os.O_RDONLY|int(step.Read%2)*unix.O_DIRECT, 0)
			if err != nil && !isErrno(err, "input/output error") {
				t.Fatalf("step %d: %v", n, err)
			}
			if err == nil {
				opened = append(opened, &versionsOpen{File: f, file: file})
			}
		case len(opened) > 0:
			if err := opened[step.File%len(opened)].read(step.Read.Rand(), int(s.now.Load())); err != nil &&
				(c.promises() || !isMixture(err)) {
				t.Fatalf("step %d: %v", n, err)
			}
		}
	}
	if !c.promises() || c.DiskCache { // with a disk cache, answers are valid for a minute
		return
	}
	last := versionsLayer.ofVersion(int(s.now.Load()))
	for _, file := range versionsFiles {
		eventually(t, file.name+" has the last version", func() bool {
			got, err := os.ReadFile(filepath.Join(dir, file.name))
			return err == nil && bytes.Equal(got, file.content(last))
		})
	}
}

// mixture is the error of bytes that are not of one version.
type mixture struct{ text string }

func (m mixture) Error() string { return m.text }

func isMixture(err error) bool {
	_, ok := err.(mixture)
	return ok
}

// read reads a part of a file. Versions up to now exist.
func (f *versionsOpen) read(r *rand.Rand, now int) error {
	file := versionsFiles[f.file]
	size := len(file.content(versionsLayer))
	off, p := r.IntN(size), make([]byte, 1+r.IntN(8192))
	n, err := f.ReadAt(p, int64(off))
	switch {
	case err != nil && err != io.EOF && isErrno(err, "input/output error"):
		return nil
	case err != nil && err != io.EOF:
		return err
	case n != min(len(p), size-off):
		return fmt.Errorf("%s: got %d bytes of %d from %d on", file.name, n, len(p), off)
	}
	if f.versions == nil {
		for v := range now + 1 {
			f.versions = append(f.versions, v)
		}
	}
	of := slices.DeleteFunc(slices.Clone(f.versions), func(v int) bool {
		return !bytes.Equal(p[:n], file.content(versionsLayer.ofVersion(v))[off:off+n])
	})
	if len(of) == 0 {
		return mixture{fmt.Sprintf("%s: %d bytes from %d on are not of the versions %v, as those that were read before",
			file.name, n, off, f.versions)}
	}
	f.versions = of
	return nil
}
