package copier

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cancelAt returns a function for fakeFile.reading that calls cancel at range i.
func cancelAt(cancel func(), i int64) func(off, n int64) error {
	return func(off, _ int64) error {
		if off >= i*rangeBytes {
			cancel()
		}
		return nil
	}
}

func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	f := &fakeFile{name: "f", size: 20 * rangeBytes}
	ctx, cancel := context.WithCancel(t.Context())
	f.reading = cancelAt(cancel, 9)
	if output, _, err := run(t, ctx, newFake(f), "f", dir, "f", nil); !errors.Is(err, context.Canceled) ||
		output != "" {
		t.Fatalf("got %v, %q", err, output)
	}
	if _, err := os.Stat(filepath.Join(dir, "f")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the incomplete file has its name: %v", err)
	}
	f.reading, f.reads = nil, nil
	stats := mustRun(t, newFake(f), "f", dir, "f")
	check(t, dir, "f", f)
	// The four jobs may lose the last four ranges.
	if read := f.rangesRead(rangeBytes); read[0] < 5 {
		t.Errorf("read again: %v", read)
	}
	if stats.KeptBytes.Load()+stats.CopiedBytes.Load() != f.size {
		t.Errorf("got %+v", stats)
	}
}

func TestVersionChanged(t *testing.T) {
	dir := t.TempDir()
	f := &fakeFile{name: "f", size: 20 * rangeBytes}
	ctx, cancel := context.WithCancel(t.Context())
	f.reading = cancelAt(cancel, 9)
	if _, _, err := run(t, ctx, newFake(f), "f", dir, "f", nil); err == nil {
		t.Fatal("not interrupted")
	}
	f.reading, f.version = nil, 1
	output, _, err := run(t, t.Context(), newFake(f), "f", dir, "f", nil)
	if want := "f: the source has changed: starting over"; err != nil || output != want {
		t.Fatalf("got %v, %q, want %q", err, output, want)
	}
	check(t, dir, "f", f)
}

// TestMain is also the process of TestKilled, which exits in the middle of a copy.
func TestMain(m *testing.M) {
	if dir := os.Getenv("COPIER_TEST_KILL"); dir != "" {
		f := killedFile()
		f.reading = cancelAt(func() { os.Exit(9) }, 9)
		root, err := os.OpenRoot(dir)
		if err != nil {
			panic(err)
		}
		err = Copy(context.Background(), newFake(f), "f", root, "f",
			Options{Jobs: 1, Stats: &Stats{}, rangeSize: rangeBytes, checkpoint: 4 * rangeBytes})
		panic(fmt.Sprint("the copy was not interrupted: ", err))
	}
	os.Exit(m.Run())
}

func killedFile() *fakeFile { return &fakeFile{name: "f", size: 20 * rangeBytes} }

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
	if read := f.rangesRead(rangeBytes); read[0] != 8 {
		t.Errorf("read ranges %v, want those from 8 on: the last entry of the journal has 8", read)
	}
}

// TestForeignJournal: a copy resumes only what an earlier copy of the same source wrote.
func TestForeignJournal(t *testing.T) {
	f := &fakeFile{name: "f", size: 5 * rangeBytes}
	sum := strings.Repeat("0", 32)
	tests := []struct {
		name, journal string
		part          int64 // size
		resumed       bool
	}{
		{"the same", `{"version":"%s","size":%d,"range":%d,"done":3}`, f.size, true},
		{"empty", ``, f.size, false},
		{"cut off", `{"version":"%s","size":%d,"ra`, f.size, false},
		{"part too short", `{"version":"%s","size":%d,"range":%d,"done":3}`, f.size - 1, false},
		{"part empty", `{"version":"%s","size":%d,"range":%d,"done":3}`, 0, false},
		{"too much done", `{"version":"%s","size":%d,"range":%d,"done":6}`, f.size, false},
		{"negative done", `{"version":"%s","size":%d,"range":%d,"done":-1}`, f.size, false},
		{"other ranges", `{"version":"%s","size":%d,"range":%d0,"done":3}`, f.size, false},
		{"other version", `{"version":"1%s","size":%d,"range":%d,"done":3}`, f.size, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			text := test.journal
			if n := strings.Count(text, "%"); n > 0 {
				text = fmt.Sprintf(text, []any{sum, f.size, rangeBytes}[:n]...)
			}
			// The part has zeros, which show where it was resumed.
			if err := errors.Join(os.WriteFile(filepath.Join(dir, "f.part"), make([]byte, test.part), 0o666),
				os.WriteFile(filepath.Join(dir, "f.part.json"), []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
			f.reads = nil
			if _, _, err := run(t, t.Context(), newFake(f), "f", dir, "f", nil); err != nil {
				t.Fatal(err)
			}
			if test.resumed {
				if got := f.rangesRead(rangeBytes); !slices.Equal(got, []int64{3, 4}) {
					t.Errorf("read %v", got)
				}
				return
			}
			check(t, dir, "f", f)
		})
	}
}
