package store

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// onDisk opens a file of so many bytes on disk, through a schedule and without.
func onDisk(t testing.TB, size int) (s *Scheduled, scheduled, plain fs.File) {
	t.Helper()
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "file"), make([]byte, size), 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s = Schedule(d, Options{})
	t.Cleanup(func() { s.Close() })
	for _, f := range []struct {
		fsys fs.FS
		to   *fs.File
	}{{s, &scheduled}, {d, &plain}} {
		if *f.to, err = f.fsys.Open("file"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*f.to).Close() })
	}
	return s, scheduled, plain
}

// TestReadRangesAllocatesNothing holds for the page cache.
func TestReadRangesAllocatesNothing(t *testing.T) {
	s, f, _ := onDisk(t, 1<<20)
	ranges, ctx := apart(10, 4096), t.Context()
	if n := testing.AllocsPerRun(100, func() {
		setLate(s, false) // whatever this machine does
		vfs.ReadRanges(ctx, f, ranges)
	}); n >= 1 && !s.Late() {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkReadRanges is what a read of the page cache costs, and what it costs more through a schedule.
func BenchmarkReadRanges(b *testing.B) {
	s, scheduled, plain := onDisk(b, 8<<20)
	for _, size := range []int{512, 16 << 10} {
		for _, c := range []struct {
			what string
			f    fs.File
			late bool
		}{{"plain", plain, false}, {"scheduled", scheduled, false}, {"late", scheduled, true}} {
			b.Run(fmt.Sprintf("%s/%d", c.what, size), func(b *testing.B) {
				const n = 64
				ranges := apart(n, size)
				b.ReportAllocs()
				for b.Loop() {
					if c.late {
						makeLate(s)
					}
					vfs.ReadRanges(b.Context(), c.f, ranges)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/read")
			})
		}
	}
}

// BenchmarkReadAtParallel has a reader on each processor.
func BenchmarkReadAtParallel(b *testing.B) {
	_, scheduled, plain := onDisk(b, 1<<20)
	for _, c := range []struct {
		what string
		f    fs.File
	}{{"plain", plain}, {"scheduled", scheduled}} {
		b.Run(c.what, func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for p := make([]byte, 4096); pb.Next(); {
					c.f.(io.ReaderAt).ReadAt(p, 0)
				}
			})
		})
	}
}
