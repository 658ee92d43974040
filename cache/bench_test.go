package cache

import (
	"context"
	"fmt"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

func ignore(volume.Vec, []byte) {}

// BenchmarkHit reads blocks in memory.
func BenchmarkHit(b *testing.B) {
	a := newArray(1, volume.Vec{1024, 1, 1}, 4096)
	hits := func(b *testing.B, src *Source, n int) {
		blocks := row(0, 1024)
		if err := src.Read(b.Context(), blocks, Always, ignore); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("blocks=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i += n {
				src.Read(b.Context(), blocks[i%1024:][:n], Always, ignore)
			}
		})
		b.Run(fmt.Sprintf("blocks=%d/parallel", n), func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i += n {
					src.Read(b.Context(), blocks[i%1024:][:n], Always, ignore)
				}
			})
		})
	}
	for _, n := range []int{1, 32} {
		b.Run("recent", func(b *testing.B) {
			hits(b, newTestCache(b, 16<<20).Source(a), n)
		})
		b.Run("frequent", func(b *testing.B) {
			c := newTestCache(b, 64<<20)
			src := c.Source(versionedArray{a, vfs.Version{1}})
			if err := src.Read(b.Context(), row(0, 1024), Always, ignore); err != nil {
				b.Fatal(err)
			}
			c.recent.mu.Lock()
			c.frequent.offer(c.recent.queue)
			c.recent.queue = nil
			c.recent.used.Store(0)
			c.recent.mu.Unlock()
			hits(b, src, n)
		})
	}
}

// BenchmarkMiss measures the overhead of loads when the recent list is full.
func BenchmarkMiss(b *testing.B) {
	for _, size := range []int{1, 32 << 10} {
		for _, n := range []int{1, 32} {
			b.Run(fmt.Sprintf("size=%d/blocks=%d", size, n), func(b *testing.B) {
				src := newTestCache(b, 1<<20).Source(blankSource{newArray(1, volume.Vec{1 << 30, 1, 1}, size).grid})
				ctx, cancel := context.WithCancel(b.Context())
				defer cancel()
				b.ReportAllocs()
				bs := row(0, n)
				for b.Loop() {
					for i := range bs {
						bs[i][0] += n
					}
					src.Read(ctx, bs, Always, ignore)
				}
			})
		}
	}
}
