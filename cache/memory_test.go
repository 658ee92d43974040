package cache

import (
	"context"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// live returns the bytes that the last run of the garbage collector found in use.
func live() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// plain is a source of fresh blocks that hold nothing to be checked.
type plain struct{ grid volume.Grid }

func (p plain) Grid() volume.Grid { return p.grid }
func (p plain) Block(context.Context, volume.Vec) ([]byte, error) {
	return make([]byte, p.grid.BlockBytes()), nil
}

// Under a storm of loads, what can be reached stays within the budget and a little
// more: ristretto's tables and the blocks that are on their way.
func TestMemory(t *testing.T) {
	for _, tt := range []struct {
		name          string
		size, blocks  int
		budget, slack int64
		reads         int // of each reader
	}{
		{"32 KiB blocks", 32 << 10, 1 << 14, 64 << 20, 2 << 20, 2000},
		{"512 KiB blocks", 512 << 10, 1 << 10, 64 << 20, 4 << 20, 250},
		{"one-byte blocks", 1, 1 << 20, 2 << 20, 3 << 20, 2000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runtime.GC()
			before := live()
			c := New(tt.budget)
			grid := newArray(0, volume.Vec{tt.blocks, 1, 1}, tt.size).grid
			src := c.Wrap(plain{grid})
			var readers sync.WaitGroup
			for seed := range uint64(8) {
				readers.Go(func() {
					rnd := rand.New(rand.NewPCG(seed, 0))
					for range tt.reads {
						src.Block(context.Background(), volume.Vec{rnd.IntN(tt.blocks), 0, 0})
					}
				})
			}
			done := make(chan struct{})
			go func() { readers.Wait(); close(done) }()
			var peak, held int64
			for storm := true; storm; {
				select {
				case <-done:
					storm = false
				default:
				}
				// The collector counts as live what is allocated while it runs.
				loaded := c.Stats().LoadedBytes
				runtime.GC()
				fresh := int64(c.Stats().LoadedBytes - loaded)
				peak = max(peak, live()-before-fresh)
				held = max(held, c.Stats().HeldBytes)
			}
			runtime.GC()
			after := live() - before
			t.Logf("budget %d KiB: %d KiB at the peak, %d KiB after, %d KiB on the books; %+v",
				tt.budget>>10, peak>>10, after>>10, held>>10, c.Stats())
			if held > tt.budget {
				t.Errorf("%d bytes on the books, budget %d", held, tt.budget)
			}
			if peak > tt.budget+tt.slack {
				t.Errorf("%d bytes at the peak, budget %d and %d", peak, tt.budget, tt.slack)
			}
			if after > tt.budget+1<<20 {
				t.Errorf("%d bytes when all is quiet, budget %d and a MiB", after, tt.budget)
			}
			c.Close()
			runtime.GC()
			if rest := live() - before; rest > 2<<20 {
				t.Errorf("%d bytes after Close", rest)
			}
			runtime.KeepAlive(src)
		})
	}
}

func BenchmarkHit(b *testing.B) {
	a := newArray(1, volume.Vec{32, 32, 1}, 4096)
	hits := func(b *testing.B, c *Cache) {
		src := c.Wrap(fileArray{a, [16]byte{1}})
		for at := range all(a) {
			src.Block(context.Background(), at)
		}
		b.Run("one", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				src.Block(context.Background(), volume.Vec{i % 32, i / 32 % 32, 0})
			}
		})
		b.Run("parallel", func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					src.Block(context.Background(), volume.Vec{i % 32, i / 32 % 32, 0})
				}
			})
		})
	}
	b.Run("window", func(b *testing.B) {
		hits(b, newTestCache(b, 16<<20))
	})
	b.Run("frequent", func(b *testing.B) {
		c := newTestCache(b, 16<<20)
		for at := range all(a) {
			k := key{[16]byte{1}, uint64(at.Index(a.grid.Blocks()))}
			c.frequent.offer([]*entry{{key: k, hash: hash(k), data: a.content(at)}})
		}
		hits(b, c)
	})
}

// BenchmarkMiss is what a load costs beside the load, with a window that is full.
func BenchmarkMiss(b *testing.B) {
	src := newTestCache(b, 1<<20).Wrap(plain{newArray(1, volume.Vec{1 << 30, 1, 1}, 1).grid})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		src.Block(ctx, volume.Vec{i, 0, 0})
	}
}
