package copier

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// hooked calls a function when a file is opened.
type hooked struct {
	*fake
	opening func()
}

func (h hooked) Open(name string) (fs.File, error) {
	h.opening()
	return h.fake.Open(name)
}

// TestTargetAppears: a file that another copy completes while this one opens the source is not replaced. If it is the
// same, it is kept.
func TestTargetAppears(t *testing.T) {
	for _, version := range []byte{1, 2} {
		dir := t.TempDir()
		ours := &fakeFile{name: "f", size: 2 * rangeBytes, version: 1}
		other := &fakeFile{name: "f", size: 2 * rangeBytes, version: version,
			mtime: fakeTime.Add(time.Duration(version-1) * time.Second)}
		once := sync.OnceFunc(func() { mustRun(t, newFake(other), "f", dir, "f") })
		output, stats, err := run(t, t.Context(), hooked{newFake(ours), once}, "f", dir, "f", nil)
		if err != nil {
			t.Fatal(err)
		}
		if same := version == 1; (stats.KeptFiles.Load() == 1) != same ||
			strings.Contains(output, ErrExists.Error()) == same || (stats.FailedFiles.Load() == 0) != same {
			t.Errorf("version %d: kept %d, failed %d: %s", version, stats.KeptFiles.Load(), stats.FailedFiles.Load(),
				output)
		}
		check(t, dir, "f", other)
	}
}

// TestCopiesAtTheSameTime: copies of different files to the same targets do not mix. Each file is that of a copy that
// reports no error for it.
func TestCopiesAtTheSameTime(t *testing.T) {
	const files = 12
	rounds := 20
	if testing.Short() { // the race detector finds a race without the moment in which it does harm
		rounds = 4
	}
	for round := range rounds {
		dir := t.TempDir()
		var sources [2][]*fakeFile
		for i := range sources {
			for n := range files {
				sources[i] = append(sources[i], &fakeFile{
					name: fmt.Sprint("d/f", n), size: int64(n) * rangeBytes / 2, version: byte(i),
					mtime: fakeTime.Add(time.Duration(i) * time.Second),
				})
			}
		}
		var start, group sync.WaitGroup
		start.Add(1)
		var output [2]string
		for i := range sources {
			src := newFake(sources[i]...)
			group.Go(func() {
				start.Wait()
				var err error
				if output[i], _, err = run(t, t.Context(), src, "d", dir, "d", nil); err != nil {
					t.Error(err)
				}
			})
		}
		start.Done()
		group.Wait()
		for n := range files {
			got, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("d/f", n)))
			if err != nil {
				t.Fatal(err)
			}
			right := 0
			for i := range sources {
				if !strings.Contains(output[i], fmt.Sprintf("d/f%d:", n)) && bytes.Equal(got, sources[i][n].bytes()) {
					right++
				}
			}
			if failed := strings.Count(output[0]+output[1], fmt.Sprintf("d/f%d:", n)); right != 1 && n > 0 ||
				failed != 1 {
				t.Errorf("round %d: file %d is that of %d copies, and %d have failed: %v", round, n, right, failed,
					output)
			}
		}
	}
}
