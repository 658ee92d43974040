package copier

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
)

// fakeCubes returns files that are named like cubes, some with several ranges.
func fakeCubes(n int) (files []*fakeFile) {
	for i := range n {
		files = append(files, &fakeFile{name: fmt.Sprintf("color/1/z%d/y%d/x%d.raw", i/16, i/4%4, i%4),
			size: int64(1 + i*7919%(5*rangeBytes))})
	}
	return files
}

// runPart copies a part of everything on a machine. The copy succeeds without output.
func runPart(t *testing.T, src fs.FS, dir string, part batch.Part, node string) *Stats {
	t.Helper()
	return runPartWith(t, src, dir, part, func(o *Options) { o.node = node })
}

// runPartWith is runPart with other options.
func runPartWith(t *testing.T, src fs.FS, dir string, part batch.Part, change func(*Options)) *Stats {
	t.Helper()
	output, stats, err := run(t, t.Context(), src, ".", dir, ".", func(o *Options) {
		o.Part = part
		change(o)
	})
	if err != nil || output != "" {
		t.Errorf("part %v: %v\n%s", part, err, output)
	}
	return stats
}

// listedFake counts how often each directory is listed, and removes a file when it was described once.
type listedFake struct {
	*fake
	removed string

	mu        sync.Mutex
	described bool
	listed    map[string]int
}

func (f *listedFake) ReadDir(name string) ([]fs.DirEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listed[name]++
	return f.fake.ReadDir(name)
}

func (f *listedFake) Stat(name string) (fs.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if name == f.removed && f.described {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	f.described = f.described || name == f.removed
	return f.fake.Stat(name)
}

// TestPartOfCopyListsOnce: a part lists the source once, not for the plan, the progress and the copy each. A file that
// was removed since the plan was made is no failure.
func TestPartOfCopyListsOnce(t *testing.T) {
	dir, files := t.TempDir(), fakeCubes(60)
	for i := range 3 {
		src := &listedFake{fake: newFake(files...), removed: files[10].name, listed: map[string]int{}}
		runPart(t, src, dir, batch.Part{I: i + 1, N: 3}, "")
		for name, n := range src.listed {
			if n != 1 {
				t.Errorf("part %d lists %s %d times", i+1, name, n)
			}
		}
	}
	checkCopy(t, dir, append(files[:10:10], files[11:]...))
}

// checkCopy checks that dir has complete copies of the files, and nothing else.
func checkCopy(t *testing.T, dir string, files []*fakeFile) {
	t.Helper()
	for _, f := range files {
		check(t, dir, f.name, f)
	}
	found := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found++
		}
		return err
	})
	staged, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || found != len(files) || len(staged) > 0 {
		t.Errorf("%d files of %d, %v, left %v", found, len(files), err, staged)
	}
}

// TestPartsOfCopy: the parts of a copy together copy all files, each file once.
func TestPartsOfCopy(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	for _, n := range []int{1, 2, 7, 40} {
		dir, files := t.TempDir(), fakeCubes(60)
		copied := 0
		for i := range n {
			few := i % 2 // if 1: files that are not likely in the part are not kept in memory
			stats := runPartWith(t, newFake(files...), dir, batch.Part{I: i + 1, N: n},
				func(o *Options) { o.fewPlanned = few })
			if kept, found := stats.KeptFiles.Load(), stats.FoundFiles.Load(); kept > 0 ||
				found != stats.CopiedFiles.Load() {
				t.Errorf("part %d of %d keeps %d of %d files", i+1, n, kept, found)
			}
			copied += int(stats.CopiedFiles.Load())
		}
		if copied != len(files) {
			t.Errorf("%d parts copy %d of %d files", n, copied, len(files))
		}
		checkCopy(t, dir, files)
	}
}

// TestPartsAtTheSameTime: each part runs several times, on one machine and on others, all at the same time.
func TestPartsAtTheSameTime(t *testing.T) {
	for range 3 {
		dir, files := t.TempDir(), fakeCubes(40)
		newFake(files...) // sets their times
		var group sync.WaitGroup
		for _, node := range rand.Perm(2) {
			for _, i := range rand.Perm(3) {
				for range 2 {
					group.Go(func() {
						runPart(t, newFake(fakeCubes(40)...), dir, batch.Part{I: i + 1, N: 3}, fmt.Sprint("node", node))
					})
				}
			}
		}
		group.Wait()
		checkCopy(t, dir, files)
	}
}

// countedFS counts how often files are opened.
type countedFS struct {
	*fake
	opened chan string
}

func (c countedFS) Open(name string) (fs.File, error) {
	c.opened <- name
	return c.fake.Open(name)
}

// TestPartWaitsForItself: where a process is writing a file of the same part, on the same machine, another one waits
// for it. If the first one is interrupted, the other one goes on where it was.
func TestPartWaitsForItself(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		dir := t.TempDir()
		f := &fakeFile{name: "f", size: 20 * rangeBytes}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		writing, resume := make(chan struct{}), make(chan struct{})
		var once sync.Once
		f.reading = func(off, _ int64) error {
			if off >= 9*rangeBytes {
				once.Do(func() { close(writing) })
				<-resume
				if interrupted {
					cancel()
				}
			}
			return nil
		}
		part := func(o *Options) { o.Part = batch.Part{I: 1, N: 1} }
		var group sync.WaitGroup
		group.Go(func() {
			output, _, err := run(t, ctx, newFake(f), ".", dir, ".", part)
			if interrupted != errors.Is(err, context.Canceled) || output != "" {
				t.Errorf("the first one: %v, %q", err, output)
			}
		})
		<-writing
		second := countedFS{newFake(&fakeFile{name: "f", size: f.size}), make(chan string)}
		var stats *Stats
		group.Go(func() {
			defer close(second.opened)
			var err error
			var output string
			if output, stats, err = run(t, t.Context(), second, ".", dir, ".", part); err != nil || output != "" {
				t.Errorf("the second one: %v, %q", err, output)
			}
		})
		<-second.opened
		<-second.opened // it has tried, and tries again
		close(resume)
		for range second.opened {
		}
		group.Wait()
		checkCopy(t, dir, []*fakeFile{f})
		if interrupted && stats.KeptBytes.Load() == 0 || !interrupted && stats.KeptFiles.Load() != 1 {
			t.Errorf("interrupted %v: the second one keeps %d files, %d bytes", interrupted, stats.KeptFiles.Load(),
				stats.KeptBytes.Load())
		}
	}
}

// TestPartOnAnotherMachine: a part that was killed on one machine runs again on another one. What the first has left is
// removed at the end, not before.
func TestPartOnAnotherMachine(t *testing.T) {
	dir := t.TempDir()
	f := &fakeFile{name: "f", size: 20 * rangeBytes}
	ctx, cancel := context.WithCancel(t.Context())
	f.reading = cancelAt(cancel, 9)
	_, _, err := run(t, ctx, newFake(f), ".", dir, ".",
		func(o *Options) { o.Part, o.node = batch.Part{I: 1, N: 1}, "a" })
	left := filepath.Join(dir, ".wkwfs-part-1-of-1/a/f.part")
	if _, e := os.Stat(left); !errors.Is(err, context.Canceled) || e != nil {
		t.Fatalf("got %v, %v", err, e)
	}
	f.reading = func(int64, int64) error {
		_, err := os.Stat(left)
		return err
	}
	if stats := runPart(t, newFake(f), dir, batch.Part{I: 1, N: 1}, "b"); stats.KeptBytes.Load() != 0 {
		t.Errorf("got %+v", stats)
	}
	checkCopy(t, dir, []*fakeFile{f})
}

// TestFailedPart: a file that cannot be copied is an error of its part only.
func TestFailedPart(t *testing.T) {
	dir, files := t.TempDir(), fakeCubes(20)
	files[7].reading = func(int64, int64) error { return errors.New("damaged") }
	failed := 0
	for i := range 5 {
		_, stats, err := run(t, t.Context(), newFake(files...), ".", dir, ".",
			func(o *Options) { o.Part = batch.Part{I: i + 1, N: 5} })
		if err != nil {
			t.Error(err)
		}
		failed += int(stats.FailedFiles.Load())
	}
	files[7].reading = nil
	if failed != 1 {
		t.Errorf("%d files failed", failed)
	}
	for i := range 5 {
		runPart(t, newFake(files...), dir, batch.Part{I: i + 1, N: 5}, "")
	}
	checkCopy(t, dir, files)
}

// TestUnits: a cube is with all its blocks.
func TestUnits(t *testing.T) {
	for name, want := range map[string]string{
		"color/1/z0/y0/x1.raw":                 "color/1/z0/y0/x1.raw",
		"color/1/z0/y0/x1.blocks/z0/y1/x2.raw": "color/1/z0/y0/x1.raw",
		"color/1/volume.raw":                   "color/1/volume.raw",
		"color/1/chunks/0-64_0-64_0-64.raw":    "color/1/chunks/0-64_0-64_0-64.raw",
		"color/ome.zarr/1/0/0/0":               "color/ome.zarr/1/0/0/0",
		"x0.blocks/z0/y0/x0.raw":               "x0.raw",
		"datasource-properties.json":           "datasource-properties.json",
	} {
		if got := unitOf(name, nil); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
