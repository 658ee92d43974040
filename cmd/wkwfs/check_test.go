package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/wkwfs/wkwfs/internal/jobs/check"
	"github.com/wkwfs/wkwfs/internal/jobs/sample"
)

// TestCheck checks the lines, which programs read, and the exit codes.
func TestCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sample")
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	color := filepath.Join(dir, "color/1")
	for _, step := range []struct {
		name   string
		change func() error
		args   []string
		code   int
		want   []string // a pattern for each line, in any order
	}{
		{"sound", nil, []string{dir}, 0, []string{
			`^\d+ cubes, \d+ blocks, .* sound in .*/s\): no faults$`,
		}},
		{"a header that is missing", func() error { return os.Remove(filepath.Join(color, "header.wkw")) },
			[]string{dir}, 0, []string{
				`^warning: .*color/1/header\.wkw`,
				`: 0 errors, 1 warning, 0 notes$`,
			}},
		{"a cube that is cut off", func() error { return os.Truncate(filepath.Join(color, "z0/y0/x1.wkw"), 10) },
			[]string{"-j1", dir}, 1, []string{
				`^warning: .*color/1/header\.wkw`,
				`^error: color/1/z0/y0/x1\.wkw: header at byte 0: expected 16 bytes, found 10$`,
				`: 1 error, 1 warning, 0 notes$`,
			}},
		{"for programs", nil, []string{"--json", color}, 1, []string{
			`^{"severity":"warning","path":"\.","error":".*header\.wkw.*"}$`,
			`^{"severity":"error","path":"z0/y0/x1.wkw","cube":\[1,0,0\],"error":"z0/y0/x1.wkw: header .*","file":"z0/y0/x1.wkw","what":"header","offset":0,"expected":"16 bytes","found":"10"}$`,
			`^{"summary":{"cubes":\d+,"blocks":\d+,"bytes":\d+,"errors":1,"warnings":1,"notes":0,"seconds":.*}}$`,
		}},
		{"no jobs", nil, []string{"--jobs=0", dir}, 2, nil},
		{"nothing there", nil, []string{filepath.Join(dir, "nowhere")}, 1, nil},
	} {
		if step.change != nil {
			if err := step.change(); err != nil {
				t.Fatal(err)
			}
		}
		var stdout, stderr bytes.Buffer
		if code := run(append([]string{"check"}, step.args...), &stdout, &stderr); code != step.code {
			t.Errorf("%s: exit code %d, want %d; %s", step.name, code, step.code, stderr.String())
		}
		if lines := bytes.Count(stdout.Bytes(), []byte("\n")); lines != len(step.want) {
			t.Errorf("%s: %d lines, want %d:\n%s", step.name, lines, len(step.want), stdout.String())
		}
		for _, pattern := range step.want {
			if !regexp.MustCompile("(?m)" + pattern).Match(stdout.Bytes()) {
				t.Errorf("%s: no line like %s in\n%s", step.name, pattern, stdout.String())
			}
		}
	}
}

// TestFaultNamesFileOnce: a line names the file of a fault, and does not repeat it.
func TestFaultNamesFileOnce(t *testing.T) {
	for _, c := range []struct{ path, err, want string }{
		{"vol/1/z0/y0/a.h5", "a.h5: chunk at byte 8: bad", "error: vol/1/z0/y0/a.h5: chunk at byte 8: bad\n"},
		{"vol/1/z0/y0/a.h5", "other.h5: bad", "error: vol/1/z0/y0/a.h5: other.h5: bad\n"},
		{"color/1/z0/y0/x0.wkw", "color/1/z0/y0/x0.wkw: bad", "error: color/1/z0/y0/x0.wkw: bad\n"},
		{".", "a.h5: bad", "error: a.h5: bad\n"},
	} {
		if got := (faultJSON{Severity: check.Error, Path: c.path, Error: c.err}).text(); got != c.want {
			t.Errorf("%q at %q: %q, want %q", c.err, c.path, got, c.want)
		}
	}
}
