//go:build linux

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

	"github.com/wkwfs/wkwfs/internal/small/parallel"
)

// sleepy is a file system whose Stat takes a millisecond. It counts the calls.
type sleepy struct {
	fstest.MapFS
	stats atomic.Int32
}

func (s *sleepy) Stat(name string) (fs.FileInfo, error) {
	s.stats.Add(1)
	time.Sleep(time.Millisecond)
	return s.MapFS.Stat(name)
}

// TestStatAhead: a reader that stats the entries of a directory in their order waits for one stat in 64. The
// result of a stat ahead is used once, and is valid for a second.
func TestStatAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 200
		s := &sleepy{MapFS: fstest.MapFS{}}
		name := func(i int) string { return fmt.Sprintf("x%03d", i) }
		for i := range n {
			s.MapFS["dir/"+name(i)] = &fstest.MapFile{Data: make([]byte, i)}
		}
		dir := &node{mount: &mount{fsys: s}, path: "dir"}
		entries, err := fs.ReadDir(s, "dir")
		if err != nil {
			t.Fatal(err)
		}
		dir.startStatAhead(entries)
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
		if took := time.Since(start); took > 4*(time.Millisecond+parallel.Alone) || s.stats.Load() != n {
			t.Errorf("took %v and %d stats, expected a little more than 4 ms, and %d", took, s.stats.Load(), n)
		}

		size(100) // and stats the following entries ahead
		s.MapFS["dir/"+name(101)] = &fstest.MapFile{Data: make([]byte, 1000)}
		if got := size(101); got != 101 {
			t.Errorf("%d bytes: the result of the stat ahead was not used", got)
		}
		if got := size(101); got != 1000 {
			t.Errorf("%d bytes: the result of the stat ahead was used twice", got)
		}
		s.MapFS["dir/"+name(110)] = &fstest.MapFile{Data: make([]byte, 1000)}
		time.Sleep(statResultTime)
		if got := size(110); got != 1000 {
			t.Errorf("%d bytes: the result of the stat ahead was used after %v", got, statResultTime)
		}
		delete(s.MapFS, "dir/"+name(5))
		if _, err := ahead.stat(name(5)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("an entry that was removed: %v", err)
		}
		if _, err := ahead.stat("other"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a name that was not listed: %v", err)
		}
		time.Sleep(statAheadTime)
		synctest.Wait()
		if dir.ahead.Load() != nil {
			t.Errorf("the listing is kept after %v", statAheadTime)
		}
	})
}
