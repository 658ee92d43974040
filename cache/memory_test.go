package cache

import (
	"context"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// live returns the bytes in use at the last garbage collection.
func live() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// backed returns the bytes of the arena that are backed by memory.
func backed(c *Cache) int64 {
	c.arena.mu.Lock()
	defer c.arena.mu.Unlock()
	return c.arena.lent + c.arena.spare
}

// blankSource is a source of blocks with undefined content.
type blankSource struct{ grid volume.Grid }

func (p blankSource) Grid() volume.Grid { return p.grid }
func (p blankSource) Fill(_ context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	for i := range blocks {
		blocks[i].Voxels = memory(blocks[i].At)
	}
}

// storm reads rows of n blocks at random places in 8 goroutines. The channel is closed when all reads are done.
func storm(src *Source, reads, n int) <-chan struct{} {
	var readers sync.WaitGroup
	for seed := range uint64(8) {
		readers.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, 0))
			for range reads {
				at := rnd.IntN(src.blocks[0] - n)
				src.Read(context.Background(), row(at, at+n), Always, func(volume.Vec, []byte) {})
			}
		})
	}
	done := make(chan struct{})
	go func() { readers.Wait(); close(done) }()
	return done
}

// Under a storm of loads, memory stays within the budget and some slack for ristretto's tables and blocks in flight.
func TestMemory(t *testing.T) {
	for _, tt := range []struct {
		name          string
		size, blocks  int
		budget, slack int64
		reads         int // of each reader
	}{
		{"32 KiB blocks", 32 << 10, 1 << 14, 64 << 20, 2 << 20, 2000},
		{"512 KiB blocks", 512 << 10, 1 << 10, 64 << 20, 6 << 20, 250},
		{"one-byte blocks", 1, 1 << 20, 2 << 20, 3 << 20, 2000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runtime.GC()
			before := live()
			c := New(tt.budget)
			src := c.Source(blankSource{newArray(0, volume.Vec{tt.blocks, 1, 1}, tt.size).grid})
			done := storm(src, tt.reads, 1)
			inUse := func() int64 {
				n := backed(c)
				if tt.size < pageSize {
					n = 0 // live counts it
				}
				return live() - before + n
			}
			var peak, held int64
			for storm := true; storm; {
				select {
				case <-done:
					storm = false
				default:
				}
				// live includes what is allocated during the collection.
				loaded := c.Stats().Loads
				runtime.GC()
				fresh := int64(c.Stats().Loads-loaded) * 1024
				peak = max(peak, inUse()-fresh)
				held = max(held, c.Stats().HeldBytes)
			}
			runtime.GC()
			after := inUse()
			t.Logf("budget %d KiB: %d KiB at the peak, %d KiB after, %d KiB accounted for; %+v",
				tt.budget>>10, peak>>10, after>>10, held>>10, c.Stats())
			if held > tt.budget {
				t.Errorf("%d bytes accounted for, budget %d", held, tt.budget)
			}
			if peak > tt.budget+tt.slack {
				t.Errorf("%d bytes at the peak, budget %d and %d", peak, tt.budget, tt.slack)
			}
			if after > tt.budget+tt.slack {
				t.Errorf("%d bytes after the storm, budget %d and %d", after, tt.budget, tt.slack)
			}
			c.Close()
			checkEmpty(t, c)
			runtime.GC()
			if rest := live() - before; rest > 2<<20 {
				t.Errorf("%d bytes after Close", rest)
			}
			runtime.KeepAlive(src)
		})
	}
}

// Storms of loads of several sizes, one after the other, take no more memory than the budget and maxInFlight. Later
// rounds need hardly more address space than the first one.
func TestMemoryIsReused(t *testing.T) {
	const budget = 32 << 20
	c := newTestCache(t, budget)
	var sources []*Source
	for _, size := range []int{5000, 32 << 10, 100 << 10, 1 << 20} {
		sources = append(sources, c.Source(blankSource{newArray(0, volume.Vec{4*budget/size + 32, 1, 1}, size).grid}))
	}
	spans, reads := 0, 200
	if testing.Short() {
		reads = 50
	}
	for round := range 3 {
		for _, src := range sources {
			done := storm(src, max(reads*5000/src.bytes, 10), 16)
			for storm := true; storm; {
				select {
				case <-done:
					storm = false
				case <-time.After(time.Millisecond):
				}
				if got := backed(c); got > budget+maxInFlight {
					t.Fatalf("%d bytes, budget %d and %d in flight", got, budget, maxInFlight)
				}
			}
		}
		if round == 0 {
			spans = len(c.arena.spans)
		}
	}
	// The number of loads in flight is random.
	if got := len(c.arena.spans); got > spans*3/2 {
		t.Errorf("%d spans, %d after the first round", got, spans)
	}
}
