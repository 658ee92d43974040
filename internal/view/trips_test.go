package view_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/store"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/internal/view"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// trip is how long a file server takes to answer in these tests. Their clock stands still but for those who wait for it.
const trip = 5 * time.Millisecond

// server is a directory on a file server: each request takes a trip. It has no page cache. The attributes of an open
// file are known.
type server struct {
	dir       *store.Dir // not embedded: it has faster ways of its own
	mu        sync.Mutex
	now, most int // requests in flight
	looks     int
	reads     int
}

func (s *server) ask(counter *int) {
	s.mu.Lock()
	*counter++
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	time.Sleep(trip)
	s.mu.Lock()
	s.now--
	s.mu.Unlock()
}

func (s *server) Open(name string) (fs.File, error) {
	s.ask(&s.looks)
	f, err := s.dir.Open(name)
	if err != nil {
		return nil, err
	}
	return serverFile{f, s}, nil
}

func (s *server) Stat(name string) (fs.FileInfo, error)  { s.ask(&s.looks); return s.dir.Stat(name) }
func (s *server) Lstat(name string) (fs.FileInfo, error) { s.ask(&s.looks); return s.dir.Lstat(name) }
func (s *server) ReadDir(name string) ([]fs.DirEntry, error) {
	s.ask(&s.looks)
	return s.dir.ReadDir(name)
}

func (s *server) ReadLink(name string) (string, error) { s.ask(&s.looks); return s.dir.ReadLink(name) }

// Describe answers at once for all entries of a directory, as NFS does.
func (s *server) Describe(dir string, wanted func(string) bool) ([]vfs.Described, error) {
	s.ask(&s.looks)
	return vfs.Describe(struct{ fs.FS }{s.dir}, dir, wanted)
}

type serverFile struct {
	fs.File
	s *server
}

func (f serverFile) Read(p []byte) (int, error) {
	f.s.ask(&f.s.reads)
	return f.File.Read(p)
}

func (f serverFile) ReadAt(p []byte, off int64) (int, error) {
	f.s.ask(&f.s.reads)
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

// tripped is a dataset on a server: one layer of 2 × 2 × 2 cubes of 32³ blocks of 4³ voxels.
type tripped struct {
	t    *testing.T
	s    *server
	tree *view.FS
}

var trippedGrid = grid(volume.Cube(128), volume.Cube(4), volume.Uint8, 1) // of a cube

func newTripped(t *testing.T, dir string) *tripped {
	d, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	s := &server{dir: d}
	root, err := wkw.Recognise(store.Schedule(s, store.Options{}), ".", wkw.Options{Name: "dataset"})
	if err != nil {
		t.Fatal(err)
	}
	blocks := cache.New(256 << 20)
	t.Cleanup(blocks.Close)
	return &tripped{t, s, view.New(root, view.Options{Cache: blocks, Private: true})}
}

// does runs f and holds that it takes so many trips, and no more requests are in flight than may be.
func (p *tripped) does(what string, trips int, f func()) {
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

func (p *tripped) open(name string) fs.File {
	p.t.Helper()
	f, err := p.tree.Open(name)
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

// read reads n bytes of a file, which shows a box, and compares them.
func (p *tripped) read(f fs.File, box volume.Box, off int64, n int) {
	p.t.Helper()
	got := make([]byte, n)
	if _, err := f.(io.ReaderAt).ReadAt(got, off); err != nil {
		p.t.Fatal(err)
	}
	size := box.Size()
	for i := range got {
		at := int(off) + i
		v := volume.Vec{at % size[0], at / size[0] % size[1], at / size[0] / size[1]}.Add(box.Min)
		v = v.Sub(v.Div(trippedGrid.Size).Mul(trippedGrid.Size))
		if got[i] != byteAt(v, 0) {
			p.t.Fatalf("byte %d: got %d, expected %d", at, got[i], byteAt(v, 0))
		}
	}
}

// TestTrips counts how often each operation waits for a server that answers late.
func TestTrips(t *testing.T) {
	dir := t.TempDir()
	writeTripped(t, dir)
	synctest.Test(t, func(t *testing.T) {
		p := newTripped(t, dir)
		whole := volume.Box{Max: volume.Cube(256)}
		cube := volume.Box{Max: trippedGrid.Size}
		var f fs.File
		if _, err := p.tree.Stat("color/1/z0/y0/x0.raw"); err != nil { // finds the layer, the mag and the geometry
			t.Fatal(err)
		}
		p.does("opening a cube: the file, and its header", 2, func() { f = p.open("color/1/z0/y0/x0.raw") })
		p.does("its first block: its place, and itself", 2, func() { p.read(f, cube, 0, 4) })
		p.does("the next block, whose place is known", 1, func() { p.read(f, cube, 4, 4) })
		p.does("a row of 32 blocks", 2, func() { p.read(f, cube, 128*100, 128) })
		f.Close()

		p.does("describing the volume: the directory twice, and three levels of cubes", 5, func() {
			if _, err := p.tree.Stat("color/1/volume.raw"); err != nil {
				t.Error(err)
			}
		})
		p.does("opening the volume", 1, func() { f = p.open("color/1/volume.raw") })
		p.does("its first 4 KiB: two cubes, their headers, the places of the blocks, and these", 4, func() { p.read(f, whole, 0, 4096) })
		p.does("4 KiB of the same cubes", 2, func() { p.read(f, whole, 256*256*50, 4096) })
		f.Close()
		p.does("opening it again as another format", 1, func() { p.open("color/1/volume.npy").Close() })
		box := volume.Box{Min: volume.Vec{30, 31, 31}, Max: volume.Vec{39, 40, 40}}
		p.does("a box of 27 blocks", 1+2, func() {
			f = p.open("color/1/box/30-39_31-40_31-40.raw")
			p.read(f, box, 0, 9*9*9)
		})
		f.Close()
		p.does("a slice", 1+2, func() {
			f = p.open("color/1/slices/z0000033.tif")
			if _, err := f.(io.ReaderAt).ReadAt(make([]byte, 4096), 30_000); err != nil {
				t.Error(err)
			}
		})
		f.Close()
		synctest.Wait()
		time.Sleep(time.Minute) // all that goes on by itself ends
	})
}

// writeTripped writes the dataset. All cubes are the same file.
func writeTripped(t *testing.T, dir string) {
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
		if err := wkw.WriteCube(t.Context(), name, wkw.LZ4, coords{grid: trippedGrid}); err != nil {
			t.Fatal(err)
		}
	}
}
