package copier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// rangeBytes is the size of a range in these tests.
const rangeBytes = 64 << 10

// run copies name to the target in dir with small ranges. It returns the calls of Failed and Notice, one per line.
func run(t *testing.T, ctx context.Context, src fs.FS, name, dir, target string, change func(*Options)) (string, *Stats,
	error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var output outputLines
	o := Options{
		Jobs: 4, Stats: &Stats{}, rangeSize: rangeBytes, checkpoint: rangeBytes,
		Failed: func(name string, err error) { output.add(name, err.Error()) },
		Notice: output.add,
	}
	if change != nil {
		change(&o)
	}
	err = Copy(ctx, src, name, root, target, o)
	return output.String(), o.Stats, err
}

// mustRun is run for copies that succeed without output.
func mustRun(t *testing.T, src fs.FS, name, dir, target string) *Stats {
	t.Helper()
	output, stats, err := run(t, t.Context(), src, name, dir, target, nil)
	if err != nil || output != "" {
		t.Fatalf("%v\n%s", err, output)
	}
	return stats
}

// check checks that the target is a complete copy of f, and that no part is left in dir.
func check(t *testing.T, dir, target string, f *fakeFile) {
	t.Helper()
	path := filepath.Join(dir, target)
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, f.bytes()) {
		t.Fatalf("%s: %d bytes differ from the source", target, len(got))
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !info.ModTime().Equal(f.mtime) || info.Mode() != 0o440 {
		t.Errorf("%s: got time %v, mode %v", target, info.ModTime(), info.Mode())
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.part*"))
	if err != nil || len(left) > 0 {
		t.Errorf("parts are left: %v, %v", left, err)
	}
}

func TestSizes(t *testing.T) {
	for _, size := range []int64{0, 1, rangeBytes - 1, rangeBytes, rangeBytes + 1, 2 * rangeBytes, 11*rangeBytes + 5} {
		for _, jobs := range []int{1, 4, 20} {
			t.Run(fmt.Sprint(size, jobs), func(t *testing.T) {
				dir := t.TempDir()
				f := &fakeFile{name: "a/f", size: size}
				output, stats, err := run(t, t.Context(), newFake(f), "a/f", dir, "g",
					func(o *Options) { o.Jobs = jobs })
				if err != nil || output != "" {
					t.Fatalf("%v\n%s", err, output)
				}
				check(t, dir, "g", f)
				if stats.CopiedFiles.Load() != 1 || stats.CopiedBytes.Load() != size ||
					stats.FoundBytes.Load() != size || !stats.Counted.Load() {
					t.Errorf("got %+v", stats)
				}
			})
		}
	}
}

func TestHoles(t *testing.T) {
	tests := []struct {
		name  string
		size  int64
		holes [][2]int64
	}{
		{"at the start", 8 * rangeBytes, [][2]int64{{0, 5 * rangeBytes}}},
		{"at the end", 8 * rangeBytes, [][2]int64{{rangeBytes, 8 * rangeBytes}}},
		{"all", 8 * rangeBytes, [][2]int64{{0, 8 * rangeBytes}}},
		{"inside a range", 3 * rangeBytes, [][2]int64{{rangeBytes + 8192, rangeBytes + 40960}}},
		{"two in a range", 3 * rangeBytes, [][2]int64{{8192, 16384}, {32768, 49152}}},
		{"odd", 3*rangeBytes + 7, [][2]int64{{12345, 2*rangeBytes + 77}}},
		{"all of a small one", 100, [][2]int64{{0, 100}}},
		{"end of a small one", rangeBytes, [][2]int64{{4096, rangeBytes}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			f := &fakeFile{name: "f", size: test.size, holes: test.holes}
			mustRun(t, newFake(f), "f", dir, "f")
			check(t, dir, "f", f)
			var st syscall.Stat_t
			if err := syscall.Stat(filepath.Join(dir, "f"), &st); err != nil {
				t.Fatal(err)
			}
			most := test.size
			for _, h := range test.holes {
				most -= (h[1] - h[0]) &^ 4095
			}
			if st.Blocks*512 > most+3*4096 {
				t.Errorf("takes %d bytes on disk, of %d that are data", st.Blocks*512, most)
			}
		})
	}
}

// TestOrder: the ranges in flight are neighbours, even if one is slow.
func TestOrder(t *testing.T) {
	f := &fakeFile{name: "f", size: 100 * rangeBytes}
	f.bytes() // generated now, not while the first range waits
	slow := make(chan struct{})
	f.reading = func(off, _ int64) error {
		switch off / rangeBytes {
		case 30: // waits for the last range of the window
			<-slow
		case 37:
			close(slow)
		}
		return nil
	}
	mustRun(t, newFake(f), "f", t.TempDir(), "f")
	for i, r := range f.reads {
		if at := int(r[0] / rangeBytes); at < i-8 || at > i+8 {
			t.Errorf("read %d was of range %d", i, at)
		}
	}
}

func TestErrorAtOffset(t *testing.T) {
	const bad = 2*rangeBytes + 12345
	broken := errors.New("broken block")
	f := &fakeFile{name: "d/f", size: 5 * rangeBytes, reading: func(off, n int64) error {
		if off <= bad && bad < off+n {
			return broken
		}
		return nil
	}}
	small := &fakeFile{name: "d/s", size: 100, reading: func(int64, int64) error { return broken }}
	good := &fakeFile{name: "d/t/good", size: 3 * rangeBytes}
	dir := t.TempDir()
	src := newFake(f, small, good)
	output, stats, err := run(t, t.Context(), src, "d", dir, ".", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("d/f: bytes %d to %d: broken block\nd/s: bytes 0 to 99: broken block", bad&^4095, bad|4095)
	if output != want {
		t.Errorf("got %q, want %q", output, want)
	}
	if stats.FailedFiles.Load() != 2 || stats.CopiedFiles.Load() != 1 {
		t.Errorf("got %+v", stats)
	}
	check(t, filepath.Join(dir, "t"), "good", good)

	// The error is gone and the version is the same, as after a network failure: the copy resumes.
	f.reading, small.reading, f.reads = nil, nil, nil
	stats = mustRun(t, src, "d", dir, ".")
	check(t, dir, "f", f)
	check(t, dir, "s", small)
	if read := f.rangesRead(rangeBytes); read[0] < 2 {
		t.Errorf("read again: %v", read)
	}
	if stats.KeptFiles.Load() != 1 || stats.KeptBytes.Load() != 5*rangeBytes {
		t.Errorf("got %+v", stats)
	}
}
