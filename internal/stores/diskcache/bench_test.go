package diskcache

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// BenchmarkHit reads ranges at random from the cache, and from a file with the same bytes.
func BenchmarkHit(b *testing.B) {
	o := object.Object{Key: "k", Size: 64 << 20, Version: "1"}
	c := openCache(b, b.TempDir(), Options{Pending: 1 << 30})
	cached := c.Bucket(newFakeBucket(o))
	check(b, cached, o, 0, o.Size)
	waitWritten(c)
	content := make([]byte, o.Size)
	contentOf(o, content, 0)
	path := filepath.Join(b.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		b.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	for _, n := range []int64{4 << 10, 20_000, 128 << 10, 1 << 20, 8 << 20} {
		p := make([]byte, n)
		run := func(name string, read func(off int64) error) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(n)
				for b.Loop() {
					if err := read(rand.Int64N(o.Size - n)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("cache", func(off int64) error { return cached.Read(context.Background(), o, p, off) })
		run("file", func(off int64) error { _, err := file.ReadAt(p, off); return err })
	}
}

// BenchmarkUnit reads 20 KB at a time, as blocks are, through an empty cache from a source that answers after 20 ms,
// with 90 MB/s for each connection: in order, in rows of a cube with gaps, and at random. It shows what the size of a
// unit costs and saves.
func BenchmarkUnit(b *testing.B) {
	for _, pattern := range []struct {
		name string
		off  func(i int64) int64
	}{
		{"in order", func(i int64) int64 { return i * 20_000 }},
		{"with gaps", func(i int64) int64 { return i * 160_000 }},
		{"at random", func(int64) int64 { return rand.Int64N(1 << 29) }},
	} {
		b.Run(pattern.name, func(b *testing.B) {
			o := object.Object{Key: "k", Size: 1 << 30, Version: "1"}
			fake := newFakeBucket(o)
			var bytes atomic.Int64
			fake.onRead = func(_ context.Context, s span) error {
				bytes.Add(s.to - s.from)
				time.Sleep(20*time.Millisecond + time.Duration(s.to-s.from)*time.Second/90e6)
				return nil
			}
			cached := openCache(b, b.TempDir(), Options{}).Bucket(fake)
			i := int64(0)
			for b.Loop() {
				if err := cached.Read(context.Background(), o, make([]byte, 20_000), pattern.off(i%3000)); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(len(fake.taken()))/float64(i), "requests/op")
			b.ReportMetric(float64(bytes.Load())/float64(i), "fetched-B/op")
		})
	}
}
