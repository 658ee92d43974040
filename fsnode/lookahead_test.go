package fsnode

import (
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

// sleepy is a file system whose Stat takes a millisecond.
type sleepy struct {
	fstest.MapFS
	looks atomic.Int32
}

func (s *sleepy) Stat(name string) (fs.FileInfo, error) {
	s.looks.Add(1)
	time.Sleep(time.Millisecond)
	return s.MapFS.Stat(name)
}

// TestLookahead: who looks at the entries of a directory in their order waits for one look in 64. What was seen ahead is
// told once, and for a second.
func TestLookahead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 200
		s := &sleepy{MapFS: fstest.MapFS{}}
		name := func(i int) string { return fmt.Sprintf("x%03d", i) }
		for i := range n {
			s.MapFS["dir/"+name(i)] = &fstest.MapFile{Data: make([]byte, i)}
		}
		dir := &node{served: &served{fsys: s}, path: "dir"}
		entries, err := fs.ReadDir(s, "dir")
		if err != nil {
			t.Fatal(err)
		}
		dir.listed(entries)
		ahead := dir.ahead.Load()
		size := func(i int) int64 {
			info, err := ahead.stat(name(i))
			if err != nil {
				t.Fatal(err)
			}
			return info.Size()
		}
		start := time.Now()
		for i := range n {
			if got := size(i); got != int64(i) {
				t.Errorf("%s has %d bytes", name(i), got)
			}
		}
		if took := time.Since(start); took != 4*time.Millisecond || s.looks.Load() != n {
			t.Errorf("it took %v and %d looks, expected 4 ms and %d", took, s.looks.Load(), n)
		}

		size(100) // and what follows
		s.MapFS["dir/"+name(101)] = &fstest.MapFile{Data: make([]byte, 1000)}
		if got := size(101); got != 101 {
			t.Errorf("%d bytes: what was seen ahead was not told", got)
		}
		if got := size(101); got != 1000 {
			t.Errorf("%d bytes: what was seen ahead was told twice", got)
		}
		s.MapFS["dir/"+name(110)] = &fstest.MapFile{Data: make([]byte, 1000)}
		time.Sleep(aheadFor)
		if got := size(110); got != 1000 {
			t.Errorf("%d bytes: what was seen ahead was told after %v", got, aheadFor)
		}
		delete(s.MapFS, "dir/"+name(5))
		if _, err := ahead.stat(name(5)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of an entry that is gone: %v", err)
		}
		if _, err := ahead.stat("other"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of a name that was not listed: %v", err)
		}
		time.Sleep(listedFor)
		synctest.Wait()
		if dir.ahead.Load() != nil {
			t.Errorf("the listing is kept for longer than %v", listedFor)
		}
	})
}
