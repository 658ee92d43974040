package log

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// newFile opens a log file that is rotated at a size in bytes.
func newFile(t *testing.T, path string, size int64) *file {
	t.Helper()
	l, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l.max = size
	t.Cleanup(func() { l.file.Close() })
	return l
}

func writeLine(t *testing.T, l *file, line string) {
	t.Helper()
	if n, err := l.Write([]byte(line)); n != len(line) || err != nil {
		t.Fatalf("%q: %d bytes, %v", line, n, err)
	}
}

// contents returns the contents of the files of a directory by their names.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(b)
	}
	return all
}

func wantContents(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	if got := contents(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRotation(t *testing.T) {
	if maxBytes != 16<<20 {
		t.Errorf("SEMANTICS.md promises 16 MiB, but this is %d bytes", maxBytes)
	}
	dir := t.TempDir()
	l := newFile(t, filepath.Join(dir, "log"), 8)
	for i := range 12 {
		writeLine(t, l, fmt.Sprintf("%03d\n", i))
	}
	wantContents(t, dir, map[string]string{"log": "010\n011\n", "log.1": "008\n009\n", "log.2": "006\n007\n",
		"log.3": "004\n005\n"})
	writeLine(t, l, "longer than the limit\n")
	writeLine(t, l, "012\n")
	wantContents(t, dir, map[string]string{"log": "012\n", "log.1": "longer than the limit\n", "log.2": "010\n011\n",
		"log.3": "008\n009\n"})
}

// TestExistingFile: a file that exists is appended to, and the target of a link is rotated.
func TestExistingFile(t *testing.T) {
	dir := t.TempDir()
	writeText(t, filepath.Join(dir, "real"), "000\n001\n")
	if err := os.Symlink("real", filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	writeLine(t, newFile(t, filepath.Join(dir, "log"), 8), "002\n")
	wantContents(t, dir, map[string]string{"log": "002\n", "real": "002\n", "real.1": "000\n001\n"})
}

// TestFileThatCannotBeRenamed: lines are still appended to it. Not even root can rename a
// file to the name of a directory.
func TestFileThatCannotBeRenamed(t *testing.T) {
	dir := t.TempDir()
	l := newFile(t, filepath.Join(dir, "log"), 8)
	writeText(t, filepath.Join(dir, "log.3/taken"), "")
	writeText(t, filepath.Join(dir, "log.2"), "")
	for range 4 {
		writeLine(t, l, "123\n")
	}
	if b, err := os.ReadFile(filepath.Join(dir, "log")); string(b) != "123\n123\n123\n123\n" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
}

// TestDevice: devices and pipes are never renamed.
func TestDevice(t *testing.T) {
	l := newFile(t, os.DevNull, 8)
	for range 4 {
		writeLine(t, l, "123\n")
	}
	if _, err := os.Stat(os.DevNull + ".1"); err == nil {
		t.Errorf("%s was renamed", os.DevNull)
	}
}

// TestSharedFile: processes that share a log file lose no line.
func TestSharedFile(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	const writers, lines = 4, 50
	for w := range writers {
		l := newFile(t, filepath.Join(dir, "log"), 600)
		group.Go(func() {
			for i := range lines {
				if _, err := fmt.Fprintf(l, "%d %03d\n", w, i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	seen := map[string]int{}
	for _, text := range contents(t, dir) {
		for line := range strings.Lines(text) {
			seen[line]++
		}
	}
	for w := range writers {
		for i := range lines {
			if n := seen[fmt.Sprintf("%d %03d\n", w, i)]; n != 1 {
				t.Errorf("line %d of writer %d is there %d times", i, w, n)
			}
		}
	}
}

func TestOpenFileFails(t *testing.T) {
	if _, err := openFile(filepath.Join(t.TempDir(), "no/log")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
