package store

import (
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"

	boundary "github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

func TestMain(m *testing.M) {
	boundary.LogTo(slog.New(slog.DiscardHandler)) // tests panic
	os.Exit(m.Run())
}

// TestPanics injects a panic into each place of the package, while several readers read, look up and list. Each of them
// gets the right answer, or the panic as an error. All slots are given back.
func TestPanics(t *testing.T) {
	for place, times := range map[string]int32{"store.read": 4, "store.ranges": 3, "store.lookup": 8,
		"store.describe": 2, "store.close": 1} {
		for _, late := range []bool{false, true} {
			if !late && place == "store.ranges" {
				continue
			}
			for nth := range times {
				t.Run(fmt.Sprint(place, late, nth), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var passed atomic.Int32
						defer boundary.Inject(func(p string) {
							if p == place && passed.Add(1) == nth+1 {
								panic("injected")
							}
						})()
						before := boundary.Count()
						useAll(t, late, place)
						if passed.Load() <= nth || boundary.Count() != before+1 {
							t.Errorf("passed %d times, %d panics", passed.Load(), boundary.Count()-before)
						}
					})
				})
			}
		}
	}
}

// useAll uses a source in all ways at the same time. The errors must be those of panics, at most one, and none at the
// end.
func useAll(t *testing.T, late bool, place string) {
	names := fstest.MapFS{}
	for i := range 20 {
		names[fmt.Sprintf("dir/%02d", i)] = &fstest.MapFile{}
	}
	failed := 0
	var mu sync.Mutex
	check := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
		case !boundary.Is(err):
			t.Error(err)
		default:
			failed++
		}
	}
	for range 2 {
		failed = 0
		listed := Schedule(&remote{FS: names}, Options{})
		s := Schedule(&remote{FS: pattern(1 << 30)}, Options{})
		setLate(s, late)
		setLate(listed, late)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { check(readAll(t, s)) })
			all.Go(func() {
				_, err := listed.Stat("dir/03")
				check(err)
				check(describeAll(t, listed))
			})
		}
		all.Wait()
		synctest.Wait()
		checkIdle(t, s)
		checkIdle(t, listed)
		if most := map[string]int{"store.close": 0, "store.ranges": 0}; failed > 1 ||
			place == "store.close" && failed > most[place] {
			t.Errorf("%d requests failed", failed)
		}
	}
	if failed > 0 {
		t.Error("a request fails after the panic")
	}
}

// readAll reads a file in all ways, and checks the bytes. It returns an error of one of the reads.
func readAll(t *testing.T, s *Scheduled) error {
	f, err := s.Open("file")
	if err != nil {
		return err
	}
	defer func() {
		closing := f.(*readable)
		closing.inFlight.Add(1) // as if a read were in flight
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, ranges := range [][]vfs.Range{apart(5, 10), {{Off: 0, P: make([]byte, 7)}, {Off: 9, P: make([]byte, 20)}}} {
		vfs.ReadRanges(t.Context(), f, ranges)
		for _, r := range ranges {
			if r.Err != nil {
				err = r.Err
			} else if at := wrong(r); at >= 0 {
				t.Errorf("wrong byte at %d", at)
			}
		}
	}
	p := make([]byte, 3*maxRequest)
	if _, readErr := f.(io.ReaderAt).ReadAt(p, 5); readErr != nil {
		err = readErr
	} else if wrong(vfs.Range{Off: 5, P: p}) >= 0 {
		t.Error("wrong bytes")
	}
	return err
}

// describeAll describes a directory. It returns an error of the listing or of an entry.
func describeAll(t *testing.T, s *Scheduled) error {
	found, err := collect(s.Describe("dir", func(string) bool { return true }))
	for _, d := range found {
		if d.Err != nil {
			err = d.Err
		}
	}
	if err == nil && len(found) != 20 {
		t.Errorf("%d entries", len(found))
	}
	for batch, listErr := range s.List("dir") {
		if listErr != nil {
			err = listErr
		} else if len(batch) != 20 {
			t.Errorf("%d entries", len(batch))
		}
	}
	return err
}

// TestPanicsOfFile: a file that panics fails only the ranges that it panics for, even if they are read with others in
// one request.
func TestPanicsOfFile(t *testing.T) {
	for _, late := range []bool{false, true} {
		s, f := open(t, panicking{pattern(1 << 20)}, Options{})
		setLate(s, late)
		ranges := []vfs.Range{{Off: 0, P: make([]byte, 7)}, {Off: 90, P: make([]byte, 20)},
			{Off: 200, P: make([]byte, 20)}}
		vfs.ReadRanges(t.Context(), f, ranges)
		for i, r := range ranges {
			if boundary.Is(r.Err) != (i == 1) || r.Err == nil && wrong(r) >= 0 {
				t.Errorf("range %d: %v", i, r.Err)
			}
		}
		checkIdle(t, s)
	}
}

// panicking is a file system whose files panic when byte 100 is read.
type panicking struct{ fs.FS }

func (p panicking) Open(name string) (fs.File, error) {
	f, err := p.FS.Open(name)
	return panickingFile{f}, err
}

type panickingFile struct{ fs.File }

func (f panickingFile) ReadAt(p []byte, off int64) (int, error) {
	if off <= 100 && off+int64(len(p)) > 100 {
		panic("byte 100")
	}
	return f.File.(io.ReaderAt).ReadAt(p, off)
}
