package check_test

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/jobs/check"
	"github.com/wkwfs/wkwfs/webknossos"
)

// lateFS answers each request for a cube late, and counts the requests in flight.
type lateFS struct {
	fs.FS
	inFlight, most *atomic.Int32
}

func (l lateFS) request() {
	n := l.inFlight.Add(1)
	for m := l.most.Load(); n > m && !l.most.CompareAndSwap(m, n); m = l.most.Load() {
	}
	time.Sleep(2 * time.Millisecond)
	l.inFlight.Add(-1)
}

func (l lateFS) Open(name string) (fs.File, error) {
	f, err := l.FS.Open(name)
	if err != nil || path.Ext(name) != ".wkw" || path.Base(name) == "header.wkw" {
		return f, err
	}
	l.request()
	return lateFile{f, l}, nil
}

type lateFile struct {
	fs.File
	l lateFS
}

func (f lateFile) ReadAt(p []byte, off int64) (int, error) {
	f.l.request()
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

// TestCheckOfLateSource checks a source that answers late, or not. If it does, Depth cubes are opened at once, and as
// many are read. Else the limit is Jobs. The findings are the same.
func TestCheckOfLateSource(t *testing.T) {
	files := fstest.MapFS{"color/1/header.wkw": {Data: slices.Concat(sound[:8], make([]byte, 8))}}
	for i := range 300 {
		files[fmt.Sprintf("color/1/z%d/y0/x%d.wkw", i/30, i%30)] = &fstest.MapFile{Data: sound}
	}
	files["color/1/z3/y0/x7.wkw"] = &fstest.MapFile{Data: sound[:20]}
	for _, test := range []struct {
		late        bool
		least, most int32 // requests in flight
	}{{true, 16, 32 + 32}, {false, 1, 2 + 2}} {
		l := lateFS{files, new(atomic.Int32), new(atomic.Int32)}
		root, err := webknossos.Recognise(l, ".", webknossos.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var stats check.Stats
		var found []check.Finding
		err = check.Run(t.Context(), root, check.Options{
			Jobs: 2, Depth: 32, Late: func() bool { return test.late }, Stats: &stats,
			Report: func(f check.Finding) { found = append(found, f) },
		})
		if err != nil || stats.Cubes.Load() != 300 || stats.Blocks.Load() != 300 {
			t.Errorf("late: %v: %d cubes, %d blocks, %v", test.late, stats.Cubes.Load(), stats.Blocks.Load(), err)
		}
		if len(found) != 1 || found[0].Path != "color/1/z3/y0/x7.wkw" {
			t.Errorf("late: %v: found %v", test.late, found)
		}
		if n := l.most.Load(); n < test.least || n > test.most {
			t.Errorf("late: %v: %d requests in flight, expected %d to %d", test.late, n, test.least, test.most)
		}
	}
}
