package log_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/log"
)

// faultsTo returns Faults that write lines without a time.
func faultsTo(out *bytes.Buffer) *log.Faults {
	return log.NewFaults(slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})))
}

func TestReport(t *testing.T) {
	damage := errors.New("x0.wkw: block 3: bad")
	type report struct {
		op, path string
		err      error
	}
	tests := []struct {
		name    string
		reports []report
		want    []string
	}{
		{"once",
			[]report{{"read", "a", damage}, {"read", "a", damage}, {"read", "a", errors.New(damage.Error())}},
			[]string{`level=ERROR msg="cannot read" path=a err="x0.wkw: block 3: bad"`}},
		{"two faults",
			[]report{{"read", "a", damage}, {"open", "a", errors.New("gone")}},
			[]string{`level=ERROR msg="cannot read" path=a err="x0.wkw: block 3: bad"`,
				`level=ERROR msg="cannot open" path=a err=gone`}},
		{"one fault that shows in two files",
			[]report{{"read", "a", &fs.PathError{Op: "read", Path: "a", Err: damage}},
				{"read", "b", &fs.PathError{Op: "read", Path: "b", Err: damage}}},
			[]string{`level=ERROR msg="cannot read" path=a err="x0.wkw: block 3: bad"`}},
		{"the path of another file counts",
			[]report{{"open", "a", &fs.PathError{Op: "open", Path: "x0.wkw", Err: fs.ErrClosed}},
				{"open", "b", &fs.PathError{Op: "open", Path: "x1.wkw", Err: fs.ErrClosed}}},
			[]string{
				`level=ERROR msg="cannot open" path=a err="open x0.wkw: file already closed"`,
				`level=ERROR msg="cannot open" path=b err="open x1.wkw: file already closed"`,
			}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			faults := faultsTo(&out)
			for _, r := range test.reports {
				faults.Report(r.op, r.path, r.err)
			}
			if want := strings.Join(test.want, "\n") + "\n"; out.String() != want {
				t.Errorf("logged\n%swant\n%s", &out, want)
			}
		})
	}
}

// TestPanic: the stack of a panic is logged once, with the first request that fails of it.
func TestPanic(t *testing.T) {
	var out bytes.Buffer
	faults := faultsTo(&out)
	err := fmt.Errorf("block 3: %w", guard.Do("a.place", func() error { panic("broken") }))
	faults.Report("read", "color/1/volume.raw", err)
	faults.Report("read", "color/1/volume.raw", err)
	faults.Report("read", "color/1/volume.npy", fmt.Errorf("block 4: %w", err))
	first, rest, _ := strings.Cut(out.String(), "\n")
	if !strings.HasPrefix(first,
		`level=ERROR msg="cannot read" path=color/1/volume.raw err="block 3: panic in a.place: broken" stack="goroutine `) || !strings.Contains(first, "log_test.TestPanic") {
		t.Errorf("logged %s", first)
	}
	if want := "level=ERROR msg=\"cannot read\" path=color/1/volume.npy err=\"block 4: block 3: panic in a.place: broken\"\n"; rest != want {
		t.Errorf("logged\n%swant\n%s", rest, want)
	}
}

// TestMemoryIsBounded: any number of faults is logged, and all are forgotten after ten
// thousand.
func TestMemoryIsBounded(t *testing.T) {
	const remembered = 10_000
	var out bytes.Buffer
	faults := faultsTo(&out)
	for i := range remembered + 1 {
		faults.Report("read", "a", fmt.Errorf("fault %d", i))
	}
	faults.Report("read", "a", errors.New("fault 0"))
	faults.Report("read", "a", fmt.Errorf("fault %d", remembered))
	if n := strings.Count(out.String(), "\n"); n != remembered+2 {
		t.Errorf("%d lines, want %d: the first fault twice, the last once", n, remembered+2)
	}
}

func TestConcurrentReports(t *testing.T) {
	var out bytes.Buffer
	faults := faultsTo(&out)
	var readers sync.WaitGroup
	for i := range 16 {
		readers.Go(func() { faults.Report("read", fmt.Sprint(i), errors.New("bad")) })
	}
	readers.Wait()
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("%d lines, want 1:\n%s", n, &out)
	}
}
