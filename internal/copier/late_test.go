package copier

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// underWay counts reads that are under way, and their bytes.
type underWay struct {
	mu                  sync.Mutex
	reads, mostReads    int
	bytes, mostBytes    int64
	took                time.Duration // of a read
	done, lateUntilDone int           // reads; the source answers late until so many are done
}

func (u *underWay) read(_, n int64) error {
	u.add(1, n)
	time.Sleep(u.took)
	u.add(-1, -n)
	return nil
}

func (u *underWay) add(reads int, bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reads += reads
	u.bytes += bytes
	u.done -= min(reads, 0)
	u.mostReads, u.mostBytes = max(u.mostReads, u.reads), max(u.mostBytes, u.bytes)
}

func (u *underWay) late() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.done < u.lateUntilDone
}

// TestCopyOfLateSource: while the source answers late, Depth small files are copied at a time, and of large ranges as
// many as the helpers have memory for; when it does not, as many as there are jobs.
func TestCopyOfLateSource(t *testing.T) {
	for _, test := range []struct {
		name               string
		files              int
		size               int64
		late               int // so many reads
		least, mostAtATime int // reads
	}{
		{"small files", 150, 1000, 1 << 30, 10, 32},
		{"large ranges", 150, side, 1 << 30, 6, 4 + 8},
		{"prompt", 60, 1000, 0, 1, 4},
		{"late for a while", 150, 1000, 100, 8, 32},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := &underWay{took: 5 * time.Millisecond, lateUntilDone: test.late}
			var files []*fakeFile
			for i := range test.files {
				files = append(files, &fakeFile{name: fmt.Sprintf("d/%03d", i), size: test.size, reading: u.read})
			}
			dir := t.TempDir()
			said, stats, err := run(t, t.Context(), newFake(files...), "d", dir, "d", func(o *Options) {
				o.Depth, o.Late, o.helpersSize = 32, u.late, 8*side
			})
			if err != nil || said != "" {
				t.Fatalf("%v\n%s", err, said)
			}
			if n := u.mostReads; n < test.least || n > test.mostAtATime {
				t.Errorf("%d reads at a time, want %d to %d", n, test.least, test.mostAtATime)
			}
			if u.mostBytes > (4+8)*side {
				t.Errorf("%d bytes at a time", u.mostBytes)
			}
			if n := stats.CopiedFiles.Load(); int(n) != test.files || stats.FoundFiles.Load() != n {
				t.Errorf("%d files copied, %d found", n, stats.FoundFiles.Load())
			}
			for _, f := range files {
				check(t, dir, filepath.FromSlash(f.name), f)
			}
		})
	}
}

// TestLargeFileOfLateSource: helpers copy ranges of one file too, in their order.
func TestLargeFileOfLateSource(t *testing.T) {
	var most atomic.Int64
	f := &fakeFile{name: "f", size: 100*side + 7}
	f.reading = func(off, n int64) error { most.Store(max(most.Load(), n)); return nil }
	dir := t.TempDir()
	said, _, err := run(t, t.Context(), newFake(f), "f", dir, "f", func(o *Options) {
		o.Depth, o.Late = 32, func() bool { return true }
	})
	if err != nil || said != "" || most.Load() > side {
		t.Fatalf("%v, reads of %d bytes\n%s", err, most.Load(), said)
	}
	check(t, dir, "f", f)
}
