package copier

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// inFlight counts the reads in flight and their bytes.
type inFlight struct {
	mu                  sync.Mutex
	reads, mostReads    int
	bytes, mostBytes    int64
	took                time.Duration // of a read
	done, lateUntilDone int           // numbers of reads; the source answers late until lateUntilDone reads are done
}

func (u *inFlight) read(_, n int64) error {
	u.add(1, n)
	time.Sleep(u.took)
	u.add(-1, -n)
	return nil
}

func (u *inFlight) add(reads int, bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reads += reads
	u.bytes += bytes
	u.done -= min(reads, 0)
	u.mostReads, u.mostBytes = max(u.mostReads, u.reads), max(u.mostBytes, u.bytes)
}

func (u *inFlight) late() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.done < u.lateUntilDone
}

// TestCopyOfLateSource: while the source answers late, Depth small files are copied at once, but only as many large
// ranges as fit into the memory of the helpers. Otherwise, the jobs alone copy.
func TestCopyOfLateSource(t *testing.T) {
	for _, test := range []struct {
		name               string
		files              int
		size               int64
		late               int // number of late reads
		minReads, maxReads int // at once
	}{
		{"small files", 150, 1000, 1 << 30, 10, 32},
		{"large ranges", 150, rangeBytes, 1 << 30, 6, 4 + 8},
		{"fast", 60, 1000, 0, 1, 4},
		{"late for a while", 150, 1000, 100, 8, 32},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := &inFlight{took: 5 * time.Millisecond, lateUntilDone: test.late}
			var files []*fakeFile
			for i := range test.files {
				files = append(files, &fakeFile{name: fmt.Sprintf("d/%03d", i), size: test.size, reading: u.read})
			}
			dir := t.TempDir()
			output, stats, err := run(t, t.Context(), newFake(files...), "d", dir, "d", func(o *Options) {
				o.Depth, o.Late, o.helpersSize = 32, u.late, 8*rangeBytes
			})
			if err != nil || output != "" {
				t.Fatalf("%v\n%s", err, output)
			}
			if n := u.mostReads; n < test.minReads || n > test.maxReads {
				t.Errorf("%d reads at once, want %d to %d", n, test.minReads, test.maxReads)
			}
			if u.mostBytes > (4+8)*rangeBytes {
				t.Errorf("%d bytes at once", u.mostBytes)
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

// TestLargeFileOfLateSource: helpers also copy ranges of one file.
func TestLargeFileOfLateSource(t *testing.T) {
	var most atomic.Int64
	f := &fakeFile{name: "f", size: 100*rangeBytes + 7}
	f.reading = func(off, n int64) error { most.Store(max(most.Load(), n)); return nil }
	dir := t.TempDir()
	output, _, err := run(t, t.Context(), newFake(f), "f", dir, "f", func(o *Options) {
		o.Depth, o.Late = 32, func() bool { return true }
	})
	if err != nil || output != "" || most.Load() > rangeBytes {
		t.Fatalf("%v, reads of %d bytes\n%s", err, most.Load(), output)
	}
	check(t, dir, "f", f)
}
