package copier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const side = 64 << 10 // bytes of a range

// run copies name to the target in dir with small ranges, and returns what was told.
func run(t *testing.T, ctx context.Context, src fs.FS, name, dir, target string, change func(*Options)) (string, *Stats, error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var lines told
	o := Options{
		Jobs: 4, Stats: &Stats{}, rangeSize: side, checkpoint: side,
		Failed: func(name string, err error) { lines.add(name, err.Error()) },
		Note:   lines.add,
	}
	if change != nil {
		change(&o)
	}
	err = Copy(ctx, src, name, root, target, o)
	return lines.String(), o.Stats, err
}

// mustRun is run that succeeds and has nothing to tell.
func mustRun(t *testing.T, src fs.FS, name, dir, target string) *Stats {
	t.Helper()
	said, stats, err := run(t, t.Context(), src, name, dir, target, nil)
	if err != nil || said != "" {
		t.Fatalf("%v\n%s", err, said)
	}
	return stats
}

// check holds that dir has nothing but the file, whole.
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
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestSizes(t *testing.T) {
	for _, size := range []int64{0, 1, side - 1, side, side + 1, 2 * side, 11*side + 5} {
		for _, jobs := range []int{1, 4, 20} {
			t.Run(fmt.Sprint(size, jobs), func(t *testing.T) {
				dir := t.TempDir()
				f := &fakeFile{name: "a/f", size: size}
				said, stats, err := run(t, t.Context(), newFake(f), "a/f", dir, "g", func(o *Options) { o.Jobs = jobs })
				if err != nil || said != "" {
					t.Fatalf("%v\n%s", err, said)
				}
				check(t, dir, "g", f)
				if stats.CopiedFiles.Load() != 1 || stats.CopiedBytes.Load() != size || stats.FoundBytes.Load() != size || !stats.Counted.Load() {
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
		{"at the start", 8 * side, [][2]int64{{0, 5 * side}}},
		{"at the end", 8 * side, [][2]int64{{side, 8 * side}}},
		{"all", 8 * side, [][2]int64{{0, 8 * side}}},
		{"inside a range", 3 * side, [][2]int64{{side + 8192, side + 40960}}},
		{"two in a range", 3 * side, [][2]int64{{8192, 16384}, {32768, 49152}}},
		{"odd", 3*side + 7, [][2]int64{{12345, 2*side + 77}}},
		{"all of a small one", 100, [][2]int64{{0, 100}}},
		{"end of a small one", side, [][2]int64{{4096, side}}},
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

// TestOrder holds that the ranges in flight are neighbours, also where one is slow.
func TestOrder(t *testing.T) {
	f := &fakeFile{name: "f", size: 100 * side}
	f.bytes() // made now, not while the first range waits
	slow := make(chan struct{})
	f.reading = func(off, _ int64) error {
		switch off / side {
		case 30: // ends with the last range that may begin meanwhile
			<-slow
		case 37:
			close(slow)
		}
		return nil
	}
	mustRun(t, newFake(f), "f", t.TempDir(), "f")
	for i, r := range f.reads {
		if at := int(r[0] / side); at < i-8 || at > i+8 {
			t.Errorf("read %d was of range %d", i, at)
		}
	}
}

func TestErrorAtOffset(t *testing.T) {
	const bad = 2*side + 12345
	broken := errors.New("broken block")
	f := &fakeFile{name: "d/f", size: 5 * side, reading: func(off, n int64) error {
		if off <= bad && bad < off+n {
			return broken
		}
		return nil
	}}
	small := &fakeFile{name: "d/s", size: 100, reading: func(int64, int64) error { return broken }}
	good := &fakeFile{name: "d/t/good", size: 3 * side}
	dir := t.TempDir()
	src := newFake(f, small, good)
	said, stats, err := run(t, t.Context(), src, "d", dir, ".", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("d/f: bytes %d to %d: broken block\nd/s: bytes 0 to 99: broken block", bad&^4095, bad|4095)
	if said != want {
		t.Errorf("got %q, want %q", said, want)
	}
	if stats.FailedFiles.Load() != 2 || stats.CopiedFiles.Load() != 1 {
		t.Errorf("got %+v", stats)
	}
	check(t, filepath.Join(dir, "t"), "good", good)

	// Mended without another version, as when it was the network: it goes on.
	f.reading, small.reading, f.reads = nil, nil, nil
	stats = mustRun(t, src, "d", dir, ".")
	check(t, dir, "f", f)
	check(t, dir, "s", small)
	if read := f.read(side); read[0] < 2 {
		t.Errorf("read again: %v", read)
	}
	if stats.KeptFiles.Load() != 1 || stats.KeptBytes.Load() != 5*side {
		t.Errorf("got %+v", stats)
	}
}

// cancelAt returns a function that ends the copy at range i.
func cancelAt(cancel func(), i int64) func(off, n int64) error {
	return func(off, _ int64) error {
		if off >= i*side {
			cancel()
		}
		return nil
	}
}

func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	f := &fakeFile{name: "f", size: 20 * side}
	ctx, cancel := context.WithCancel(t.Context())
	f.reading = cancelAt(cancel, 9)
	if said, _, err := run(t, ctx, newFake(f), "f", dir, "f", nil); !errors.Is(err, context.Canceled) || said != "" {
		t.Fatalf("got %v, %q", err, said)
	}
	if _, err := os.Stat(filepath.Join(dir, "f")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("half a file has its name: %v", err)
	}
	f.reading, f.reads = nil, nil
	stats := mustRun(t, newFake(f), "f", dir, "f")
	check(t, dir, "f", f)
	// Four jobs: at most four ranges from the end of those begun may be lost.
	if read := f.read(side); read[0] < 5 {
		t.Errorf("read again: %v", read)
	}
	if stats.KeptBytes.Load()+stats.CopiedBytes.Load() != f.size {
		t.Errorf("got %+v", stats)
	}
}

func TestVersionChanged(t *testing.T) {
	dir := t.TempDir()
	f := &fakeFile{name: "f", size: 20 * side}
	ctx, cancel := context.WithCancel(t.Context())
	f.reading = cancelAt(cancel, 9)
	if _, _, err := run(t, ctx, newFake(f), "f", dir, "f", nil); err == nil {
		t.Fatal("not interrupted")
	}
	f.reading, f.version = nil, 1
	said, _, err := run(t, t.Context(), newFake(f), "f", dir, "f", nil)
	if want := "f: the source has changed: starting over"; err != nil || said != want {
		t.Fatalf("got %v, %q, want %q", err, said, want)
	}
	check(t, dir, "f", f)
}

// TestMain is also the process that TestKilled kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("COPIER_TEST_KILL"); dir != "" {
		f := killedFile()
		f.reading = cancelAt(func() { os.Exit(9) }, 9)
		root, err := os.OpenRoot(dir)
		if err != nil {
			panic(err)
		}
		err = Copy(context.Background(), newFake(f), "f", root, "f", Options{Jobs: 1, Stats: &Stats{}, rangeSize: side, checkpoint: 4 * side})
		panic(fmt.Sprint("alive: ", err))
	}
	os.Exit(m.Run())
}

func killedFile() *fakeFile { return &fakeFile{name: "f", size: 20 * side} }

func TestKilled(t *testing.T) {
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "COPIER_TEST_KILL="+dir)
	out, err := child.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 9 {
		t.Fatalf("%v\n%s", err, out)
	}
	f := killedFile()
	mustRun(t, newFake(f), "f", dir, "f")
	check(t, dir, "f", f)
	if read := f.read(side); read[0] != 8 {
		t.Errorf("read %v, want from 8 on: that was the last entry in the journal", read)
	}
}

// TestForeignJournal goes on with nothing that is not surely its own.
func TestForeignJournal(t *testing.T) {
	f := &fakeFile{name: "f", size: 5 * side}
	sum := strings.Repeat("0", 32)
	tests := []struct {
		name, journal string
		part          int64 // its size
		resumed       bool
	}{
		{"the same", `{"version":"%s","size":%d,"range":%d,"done":3}`, f.size, true},
		{"empty", ``, f.size, false},
		{"cut off", `{"version":"%s","size":%d,"ra`, f.size, false},
		{"part too short", `{"version":"%s","size":%d,"range":%d,"done":3}`, f.size - 1, false},
		{"part empty", `{"version":"%s","size":%d,"range":%d,"done":3}`, 0, false},
		{"too much done", `{"version":"%s","size":%d,"range":%d,"done":6}`, f.size, false},
		{"less than nothing done", `{"version":"%s","size":%d,"range":%d,"done":-1}`, f.size, false},
		{"other ranges", `{"version":"%s","size":%d,"range":%d0,"done":3}`, f.size, false},
		{"other version", `{"version":"1%s","size":%d,"range":%d,"done":3}`, f.size, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			text := test.journal
			if n := strings.Count(text, "%"); n > 0 {
				text = fmt.Sprintf(text, []any{sum, f.size, side}[:n]...)
			}
			// A part that was not written by a copy: zeros show where it was believed.
			if err := errors.Join(os.WriteFile(filepath.Join(dir, "f.part"), make([]byte, test.part), 0o666),
				os.WriteFile(filepath.Join(dir, "f.part.json"), []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
			f.reads = nil
			if _, _, err := run(t, t.Context(), newFake(f), "f", dir, "f", nil); err != nil {
				t.Fatal(err)
			}
			if test.resumed {
				if got := f.read(side); !slices.Equal(got, []int64{3, 4}) {
					t.Errorf("read %v", got)
				}
				return
			}
			check(t, dir, "f", f)
		})
	}
}

func TestManySmallFiles(t *testing.T) {
	var files []*fakeFile
	for i := range 600 {
		files = append(files, &fakeFile{name: fmt.Sprintf("d/z%d/y%d/x%d", i/100, i/10%10, i%10), size: int64(i * 7)})
	}
	dir := t.TempDir()
	stats := mustRun(t, newFake(files...), "d", dir, ".")
	for _, f := range files {
		name := strings.TrimPrefix(f.name, "d/")
		check(t, filepath.Join(dir, filepath.Dir(name)), filepath.Base(name), f)
	}
	if stats.CopiedFiles.Load() != 600 || stats.FoundFiles.Load() != 600 {
		t.Errorf("got %+v", stats)
	}
	again := mustRun(t, newFake(files...), "d", dir, ".")
	if again.KeptFiles.Load() != 600 || again.CopiedFiles.Load() != 0 {
		t.Errorf("again: %+v", again)
	}
}

func TestSelect(t *testing.T) {
	src := newFake(&fakeFile{name: "a/b", size: 1}, &fakeFile{name: "a/c", size: 1}, &fakeFile{name: "d/e", size: 1})
	dir := t.TempDir()
	_, stats, err := run(t, t.Context(), src, ".", dir, ".", func(o *Options) {
		o.Select = func(folder string, entries []fs.DirEntry) []fs.DirEntry {
			return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return folder == "." && e.Name() == "d" || e.Name() == "c" })
		}
	})
	if err != nil || stats.FoundFiles.Load() != 1 || stats.CopiedFiles.Load() != 1 {
		t.Errorf("%v, %+v", err, stats)
	}
}

// TestWhatIsThere copies to where something is already.
func TestWhatIsThere(t *testing.T) {
	f := &fakeFile{name: "f", size: 2 * side}
	write := func(size int64, mtime time.Time) func(string) error {
		return func(path string) error {
			return errors.Join(os.WriteFile(path, make([]byte, size), 0o400), os.Chtimes(path, mtime, mtime))
		}
	}
	tests := []struct {
		name  string
		make  func(path string) error
		force bool
		want  string // what is told; empty: it succeeds
		kept  bool
	}{
		{"the same", write(f.size, fakeTime), false, "", true},
		{"the same, 100 ns", write(f.size, fakeTime.Truncate(100)), false, "", true},
		{"the same, seconds", write(f.size, fakeTime.Truncate(time.Second)), false, "", true},
		{"the same, forced", write(f.size, fakeTime), true, "", false},
		{"other size", write(f.size-1, fakeTime), false, "f: another file is there already: ", false},
		{"other time", write(f.size, fakeTime.Add(time.Second)), false, "f: another file is there already: ", false},
		{"other size, forced", write(f.size+1, fakeTime), true, "", false},
		{"a folder, forced", func(p string) error { return os.Mkdir(p, 0o777) }, true, "f: %s is in the way: it is not a regular file", false},
		{"a device, forced", func(p string) error { return syscall.Mkfifo(p, 0o666) }, true, "f: %s is in the way: it is not a regular file", false},
		{"a link", func(p string) error { return os.Symlink("/dev/null", p) }, false, "f: another file is there already: ", false},
		{"a link, forced", func(p string) error { return os.Symlink("/dev/null", p) }, true, "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			if err := test.make(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path)
			said, stats, err := run(t, t.Context(), newFake(f), "f", dir, "f", func(o *Options) { o.Force = test.force })
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.ReplaceAll(test.want, "%s", path); !strings.HasPrefix(said, want) || want == "" && said != "" {
				t.Errorf("got %q, want %q", said, want)
			}
			if test.want == "" && !test.kept {
				check(t, dir, "f", f)
				return
			}
			if after, _ := os.Lstat(path); !os.SameFile(before, after) {
				t.Error("it was replaced")
			}
			if kept := stats.KeptFiles.Load() == 1; kept != test.kept {
				t.Errorf("kept: %v", kept)
			}
		})
	}
}

// TestDestinationErrors end the whole copy.
func TestDestinationErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sub"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	src := newFake(&fakeFile{name: "d/sub/f", size: 10}, &fakeFile{name: "d/z", size: 10})
	said, _, err := run(t, t.Context(), src, "d", dir, ".", func(o *Options) { o.Jobs = 1 })
	if err == nil || !strings.HasPrefix(err.Error(), "destination: ") || said != "" {
		t.Errorf("got %v, %q", err, said)
	}
	if _, err := os.Stat(filepath.Join(dir, "z")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("went on: %v", err)
	}
}

// TestOutside holds that links in the destination do not lead out of it.
func TestOutside(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	if err := os.Symlink(other, filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	_, _, err := run(t, t.Context(), newFake(&fakeFile{name: "d/sub/f", size: 10}), "d", dir, ".", nil)
	if left, _ := os.ReadDir(other); err == nil || len(left) > 0 {
		t.Errorf("got %v, %v", err, left)
	}
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	part, err := os.Create(filepath.Join(dir, "f.part"))
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	if err := syscall.Flock(int(part.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	said, _, err := run(t, t.Context(), newFake(&fakeFile{name: "f", size: 2 * side}), "f", dir, "f", nil)
	if want := "f: " + part.Name() + ": another copy is writing it"; err != nil || said != want {
		t.Errorf("got %v, %q, want %q", err, said, want)
	}
	if _, err := os.Stat(part.Name()); err != nil {
		t.Error(err)
	}
}
