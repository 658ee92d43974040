package view_test

import (
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// trip is the time of a round trip to the file server. The clock of these tests advances only while all goroutines
// wait.
const trip = 5 * time.Millisecond

// server is a directory on a file server. Each request takes a trip. There is no page cache. Only the attributes of an
// open file take no trip.
type server struct {
	dir      *store.Dir // not embedded: its optional methods would bypass the server
	mu       sync.Mutex
	inFlight int // requests
	most     int // largest inFlight
}

func (s *server) request() {
	s.mu.Lock()
	s.inFlight++
	s.most = max(s.most, s.inFlight)
	s.mu.Unlock()
	time.Sleep(trip)
	s.mu.Lock()
	s.inFlight--
	s.mu.Unlock()
}

func (s *server) Open(name string) (fs.File, error) {
	s.request()
	f, err := s.dir.Open(name)
	if err != nil {
		return nil, err
	}
	return serverFile{f, s}, nil
}

func (s *server) ChecksKind() bool                       { return s.dir.ChecksKind() }
func (s *server) Stat(name string) (fs.FileInfo, error)  { s.request(); return s.dir.Stat(name) }
func (s *server) Lstat(name string) (fs.FileInfo, error) { s.request(); return s.dir.Lstat(name) }
func (s *server) ReadDir(name string) ([]fs.DirEntry, error) {
	s.request()
	return s.dir.ReadDir(name)
}

func (s *server) ReadLink(name string) (string, error) { s.request(); return s.dir.ReadLink(name) }

// Describe takes one trip for all entries of a directory, as in NFS.
func (s *server) Describe(dir string, wanted func(string) bool) iter.Seq2[[]vfs.Described, error] {
	return func(yield func([]vfs.Described, error) bool) {
		s.request()
		vfs.Describe(struct{ fs.FS }{s.dir}, dir, wanted)(yield)
	}
}

type serverFile struct {
	fs.File
	s *server
}

func (f serverFile) Read(p []byte) (int, error) {
	f.s.request()
	return f.File.Read(p)
}

func (f serverFile) ReadAt(p []byte, off int64) (int, error) {
	f.s.request()
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

// remote is a dataset on a server: a layer of 2 × 2 × 2 cubes of 32³ blocks of 4³ voxels.
type remote struct {
	t    *testing.T
	s    *server
	tree *view.FS
}

var remoteGrid = voxeltest.Grid(volume.Cube(128), volume.Cube(4), volume.Uint8, 1) // of a cube

func newRemote(t *testing.T, dir string) *remote {
	d, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	s := &server{dir: d}
	root, err := webknossos.Recognise(store.Schedule(s, store.Options{}), ".", webknossos.Options{Name: "dataset"})
	if err != nil {
		t.Fatal(err)
	}
	blocks := cache.New(256 << 20)
	t.Cleanup(blocks.Close)
	return &remote{t, s, view.New(root, view.Options{Cache: blocks, Private: true})}
}

// expect runs f and checks how many trips it takes, and how many requests are in flight.
func (p *remote) expect(trips int, what string, f func()) {
	p.t.Helper()
	start := time.Now()
	f()
	if took := time.Since(start); took != time.Duration(trips)*trip {
		p.t.Errorf("%s: %.1f trips, expected %d", what, float64(took)/float64(trip), trips)
	}
	if p.s.most > store.DefaultDepth {
		p.t.Errorf("%s: %d requests were in flight", what, p.s.most)
	}
}

func (p *remote) open(name string) fs.File {
	p.t.Helper()
	f, err := p.tree.Open(name)
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

// read reads n bytes of the file of a box and compares them with the model.
func (p *remote) read(f fs.File, box volume.Box, off int64, n int) {
	p.t.Helper()
	got := make([]byte, n)
	if _, err := f.(io.ReaderAt).ReadAt(got, off); err != nil {
		p.t.Fatal(err)
	}
	size := box.Size()
	for i := range got {
		at := int(off) + i
		v := volume.Vec{at % size[0], at / size[0] % size[1], at / size[0] / size[1]}.Add(box.Min)
		v = v.Sub(v.Div(remoteGrid.Size).Mul(remoteGrid.Size))
		if got[i] != voxeltest.ByteAt(v, 0) {
			p.t.Fatalf("byte %d: got %d, expected %d", at, got[i], voxeltest.ByteAt(v, 0))
		}
	}
}

// TestTrips counts the round trips of each operation.
func TestTrips(t *testing.T) {
	dir := t.TempDir()
	writeRemote(t, dir)
	synctest.Test(t, func(t *testing.T) {
		p := newRemote(t, dir)
		whole := volume.Box{Max: volume.Cube(256)}
		cube := volume.Box{Max: remoteGrid.Size}
		var f fs.File
		if _, err := p.tree.Stat("color/1/z0/y0/x0.raw"); err != nil { // reads the metadata, the mags and the geometry
			t.Fatal(err)
		}
		p.expect(2, "open a cube: file, header with jump table", func() { f = p.open("color/1/z0/y0/x0.raw") })
		p.expect(1, "read its first block: block", func() { p.read(f, cube, 0, 4) })
		p.expect(1, "read the next block: block", func() { p.read(f, cube, 4, 4) })
		p.expect(1, "read a row of 32 blocks: blocks", func() { p.read(f, cube, 128*100, 128) })
		f.Close()

		p.expect(5, "stat the volume: directory twice, three levels of cubes", func() {
			if _, err := p.tree.Stat("color/1/volume.raw"); err != nil {
				t.Error(err)
			}
		})
		p.expect(1, "open the volume", func() { f = p.open("color/1/volume.raw") })
		p.expect(3, "read its first 4 KiB, of two cubes: files, headers with jump tables, blocks",
			func() { p.read(f, whole, 0, 4096) })
		p.expect(1, "read 4 KiB of the same cubes: blocks", func() { p.read(f, whole, 256*256*50, 4096) })
		f.Close()
		p.expect(1, "open another format", func() { p.open("color/1/volume.npy").Close() })
		box := volume.Box{Min: volume.Vec{30, 31, 31}, Max: volume.Vec{39, 40, 40}}
		p.expect(1+1, "open and read a box of 27 blocks", func() {
			f = p.open("color/1/box/30-39_31-40_31-40.raw")
			p.read(f, box, 0, 9*9*9)
		})
		f.Close()
		p.expect(1+1, "open and read a slice", func() {
			f = p.open("color/1/slices/z0000033.tif")
			if _, err := f.(io.ReaderAt).ReadAt(make([]byte, 4096), 30_000); err != nil {
				t.Error(err)
			}
		})
		f.Close()
		synctest.Wait()
		time.Sleep(time.Minute) // all goroutines end
	})
}

// writeRemote writes the dataset. All cubes are links to the same file.
func writeRemote(t *testing.T, dir string) {
	t.Helper()
	mag := filepath.Join(dir, "color/1")
	first := ""
	for c := range (volume.Box{Max: volume.Cube(2)}).All() {
		name := filepath.Join(mag, fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0]))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if first != "" {
			if err := os.Link(first, name); err != nil {
				t.Fatal(err)
			}
			continue
		}
		first = name
		if err := wkw.WriteCube(t.Context(), name, wkw.LZ4, voxeltest.Source{Shape: remoteGrid}); err != nil {
			t.Fatal(err)
		}
	}
}
