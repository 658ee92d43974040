//go:build linux

package fsnode

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// timeOf returns the modification time of a node, and how long the request took.
func (s *session) timeOf(node uint64) (at time.Time, took time.Duration) {
	s.t.Helper()
	start := time.Now()
	attr, status := s.getattr(nil, node)
	if !status.Ok() {
		s.t.Fatal(status)
	}
	return time.Unix(int64(attr.Mtime), int64(attr.Mtimensec)).UTC(), time.Since(start)
}

// oneVersion is a file system whose files keep their version when their times change.
type oneVersion struct{ *hanging }

func (f oneVersion) Stat(name string) (fs.FileInfo, error) {
	info, err := f.hanging.Stat(name)
	if err != nil {
		return nil, err
	}
	return versioned{info, vfs.Version{1}}, nil
}

// TestAttributesDoNotWait: a request for the attributes of the root, or of a file, returns the current ones, or the
// last ones if the source does not answer. Only one stat is in flight.
func TestAttributesDoNotWait(t *testing.T) {
	for _, c := range []struct {
		path string
		mode fs.FileMode
	}{{".", fs.ModeDir | 0o755}, {"dir/a", 0o644}} {
		t.Run(c.path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := newHanging()
				old, now := time.Unix(1e9, 0).UTC(), time.Unix(2e9, 0).UTC()
				change := func(at time.Time) { source.MapFS[c.path] = &fstest.MapFile{Mode: c.mode, ModTime: at} }
				change(old)
				s := newSession(t, oneVersion{source}, nil)
				node := s.find(c.path)
				change(now)
				if at, took := s.timeOf(node); at != now || took != 0 {
					t.Errorf("source answers: %v after %v, want %v at once", at, took, now)
				}
				change(old)
				release := source.hang(kindStat)
				for _, want := range []time.Duration{infoTimeout, 0, 0} {
					if at, took := s.timeOf(node); at != now || took != want {
						t.Errorf("source hangs: %v after %v, want %v after %v", at, took, now, want)
					}
				}
				s.find("other/f")
				if n := source.calls.Load(); n != 1 {
					t.Errorf("%d stats of the source, want 1", n)
				}
				release()
				synctest.Wait()
				if at, took := s.timeOf(node); at != old || took != 0 {
					t.Errorf("source answers again: %v after %v, want %v at once", at, took, old)
				}
			})
		})
	}
}

// TestAttributesAfterTimeout: an answer that arrives after the timeout of a request serves the next one.
func TestAttributesAfterTimeout(t *testing.T) {
	if infoTimeout != time.Second/10 {
		t.Errorf("SEMANTICS.md promises a tenth of a second, but this is %v", infoTimeout)
	}
	synctest.Test(t, func(t *testing.T) {
		var l lastInfo
		stat := func() (fs.FileInfo, error) {
			time.Sleep(infoTimeout + time.Millisecond)
			return newHanging().MapFS.Stat("dir")
		}
		if info := l.update(stat); info != nil {
			t.Errorf("got %v", info)
		}
		time.Sleep(time.Second)
		if info := l.update(stat); info == nil {
			t.Error("the answer to the first stat was lost")
		}
		time.Sleep(time.Second) // for the goroutine of the second stat
	})
}

// TestAttributesFail: if a stat of the root or of a file fails, the last attributes stay. An error of the root, and a
// panic, are reported.
func TestAttributesFail(t *testing.T) {
	for _, c := range []struct {
		path     string
		stat     func(fs.FileInfo) fs.FileInfo
		err      error
		reported string
	}{
		{".", nil, errors.New("no answer"), "no answer"},
		{".", func(fs.FileInfo) fs.FileInfo { panic("in stat") }, nil, "in stat"},
		{"f", nil, errors.New("no answer"), ""},
		{"f", func(fs.FileInfo) fs.FileInfo { panic("in stat") }, nil, "in stat"},
	} {
		for _, atOnce := range []bool{false, true} {
			var log bytes.Buffer
			src := newSource("f")
			s := newSessionWith(t, src, Options{Log: slog.New(slog.NewTextHandler(&log, nil)),
				AnswersAtOnce: func() bool { return atOnce }})
			node := s.find(c.path)
			before, _ := s.timeOf(node)
			src.fails, src.err, src.describe[c.path] = "stat", c.err, c.stat
			if at, _ := s.timeOf(node); at != before {
				t.Errorf("%+v: time %v, expected %v", c, at, before)
			}
			if got := log.String(); !strings.Contains(got, c.reported) || c.reported == "" && got != "" {
				t.Errorf("%+v: the log: %s", c, got)
			}
		}
	}
}
