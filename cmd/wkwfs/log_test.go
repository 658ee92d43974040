package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// newLogFile opens a log that is renamed after so many bytes.
func newLogFile(t *testing.T, path string, size int64) *logFile {
	t.Helper()
	l, err := openLogFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l.max = size
	t.Cleanup(func() { l.file.Close() })
	return l
}

func logLine(t *testing.T, l *logFile, line string) {
	t.Helper()
	if n, err := l.Write([]byte(line)); n != len(line) || err != nil {
		t.Fatalf("%q: %d bytes, %v", line, n, err)
	}
}

// content returns what is in the files of a directory, by name.
func content(t *testing.T, dir string) map[string]string {
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

func wantContent(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	if got := content(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLogFile(t *testing.T) {
	dir := t.TempDir()
	l := newLogFile(t, filepath.Join(dir, "log"), 8)
	for i := range 12 {
		logLine(t, l, fmt.Sprintf("%03d\n", i))
	}
	wantContent(t, dir, map[string]string{"log": "010\n011\n", "log.1": "008\n009\n", "log.2": "006\n007\n", "log.3": "004\n005\n"})
	logLine(t, l, "longer than a file may be\n")
	logLine(t, l, "012\n")
	wantContent(t, dir, map[string]string{"log": "012\n", "log.1": "longer than a file may be\n", "log.2": "010\n011\n", "log.3": "008\n009\n"})
}

// TestLogFileGoesOn: what is there already counts, and stays.
func TestLogFileGoesOn(t *testing.T) {
	dir := t.TempDir()
	writeText(t, filepath.Join(dir, "real"), "000\n001\n")
	if err := os.Symlink("real", filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	logLine(t, newLogFile(t, filepath.Join(dir, "log"), 8), "002\n")
	wantContent(t, dir, map[string]string{"log": "002\n", "real": "002\n", "real.1": "000\n001\n"})
}

// TestLogFileThatCannotBeRenamed is written on. A directory in the place of an old log is
// what root cannot rename a file to either.
func TestLogFileThatCannotBeRenamed(t *testing.T) {
	dir := t.TempDir()
	l := newLogFile(t, filepath.Join(dir, "log"), 8)
	writeText(t, filepath.Join(dir, "log.3/taken"), "")
	writeText(t, filepath.Join(dir, "log.2"), "")
	for range 4 {
		logLine(t, l, "123\n")
	}
	if b, err := os.ReadFile(filepath.Join(dir, "log")); string(b) != "123\n123\n123\n123\n" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
}

// TestLogFileThatIsNone: devices and pipes are never renamed.
func TestLogFileThatIsNone(t *testing.T) {
	l := newLogFile(t, os.DevNull, 8)
	for range 4 {
		logLine(t, l, "123\n")
	}
	if _, err := os.Stat(os.DevNull + ".1"); err == nil {
		t.Errorf("%s was renamed", os.DevNull)
	}
}

// TestLogFileOfSeveral: processes that have one log lose no line, and none goes to a file
// that was renamed for good.
func TestLogFileOfSeveral(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	const writers, lines = 4, 50
	for w := range writers {
		l := newLogFile(t, filepath.Join(dir, "log"), 600)
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
	for _, text := range content(t, dir) {
		for line := range strings.Lines(text) {
			seen[line]++
		}
	}
	for w := range writers {
		for i := range lines {
			if n := seen[fmt.Sprintf("%d %03d\n", w, i)]; n != 1 {
				t.Errorf("line %d of %d is there %d times", i, w, n)
			}
		}
	}
}

func TestLogFileErrors(t *testing.T) {
	if _, err := openLogFile(filepath.Join(t.TempDir(), "no/log")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestSender: a service for logs gets a record as a line, with its level and without a time.
func TestSender(t *testing.T) {
	for _, test := range []struct {
		flags logFlags
		want  []string
	}{
		{logFlags{format: logText}, []string{`INFO level=INFO msg=mounted source="/a b"`, `ERROR level=ERROR msg="cannot read" source="/a b" of.path=x of.err="two\nlines"`}},
		{logFlags{format: logJSON}, []string{`INFO {"level":"INFO","msg":"mounted","source":"/a b"}`, `ERROR {"level":"ERROR","msg":"cannot read","source":"/a b","of":{"path":"x","err":"two\nlines"}}`}},
		{logFlags{format: logText, debug: true}, []string{`DEBUG level=DEBUG msg=request source="/a b"`}},
	} {
		var got []string
		log := slog.New(test.flags.sender(func(level slog.Level, line string) error {
			got = append(got, level.String()+" "+line)
			return nil
		})).With("source", "/a b")
		log.Debug("request")
		log.Info("mounted")
		log.WithGroup("of").Error("cannot read", "path", "x", "err", "two\nlines")
		for i, want := range test.want {
			if len(got) <= i || got[i] != want {
				t.Errorf("%+v: got %q, want %q", test.flags, got, want)
				break
			}
		}
	}
}

func TestMetricsSocket(t *testing.T) {
	dir := t.TempDir()
	at := &metricsAddress{"unix", filepath.Join(dir, "m.sock")}
	l, err := at.listen()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(at.address)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v; want 0600", info.Mode(), err)
	}
	if _, err := at.listen(); err == nil || !strings.Contains(err.Error(), "another server listens at "+at.address) {
		t.Errorf("a second server: %v", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // as if the server had been killed
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = at.listen(); err != nil {
		t.Fatalf("in place of a stale socket: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(at.address); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the end: %v", err)
	}
}

func TestMetricsErrors(t *testing.T) {
	file := writeText(t, filepath.Join(t.TempDir(), "file"), "precious")
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, test := range []struct {
		at   metricsAddress
		want string
	}{
		{metricsAddress{"unix", file}, "is not a socket"},
		{metricsAddress{"unix", filepath.Join(file, "m.sock")}, "not a directory"},
		{metricsAddress{"unix", "/" + strings.Repeat("x", 200)}, "metrics: "},
		{metricsAddress{"tcp", busy.Addr().String()}, "address already in use"},
	} {
		if _, err := test.at.listen(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.at, err, test.want)
		}
	}
	if b, err := os.ReadFile(file); string(b) != "precious" || err != nil {
		t.Errorf("the file that is no socket: %q, %v", b, err)
	}
}
