package store

import (
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestReadRangesAllocatesNothing: reads of a prompt source need no allocation.
func TestReadRangesAllocatesNothing(t *testing.T) {
	s, f, _ := onDisk(t, 1<<20)
	ranges, ctx := apart(10, 4096), t.Context()
	if n := testing.AllocsPerRun(100, func() {
		setLate(s, false) // even if this machine is busy
		vfs.ReadRanges(ctx, f, ranges)
	}); n >= 1 && !s.Speed().Late {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkReadRanges measures reads of the page cache, scheduled and not.
func BenchmarkReadRanges(b *testing.B) {
	s, scheduled, plain := onDisk(b, 8<<20)
	for _, size := range []int{512, 16 << 10} {
		for _, c := range []struct {
			name string
			f    fs.File
			late bool
		}{{"plain", plain, false}, {"scheduled", scheduled, false}, {"late", scheduled, true}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, size), func(b *testing.B) {
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

// BenchmarkReadAtParallel measures a reader on each processor.
func BenchmarkReadAtParallel(b *testing.B) {
	_, scheduled, plain := onDisk(b, 1<<20)
	for _, c := range []struct {
		name string
		f    fs.File
	}{{"plain", plain}, {"scheduled", scheduled}} {
		b.Run(c.name, func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for p := make([]byte, 4096); pb.Next(); {
					c.f.(io.ReaderAt).ReadAt(p, 0)
				}
			})
		})
	}
}
