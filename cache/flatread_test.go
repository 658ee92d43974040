package cache

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/wkwfs/wkwfs/volume"
)

// planes is the height of a block in voxels. Each slab is read this many times.
const planes = 32

// readFlat reads blocks in the order in which a reader of the flat file needs them.
func readFlat(blocks volume.Vec, block func(volume.Vec)) {
	for z := range blocks[2] {
		slab := volume.Box{Min: volume.Vec{0, 0, z}, Max: volume.Vec{blocks[0], blocks[1], z + 1}}
		for range planes {
			for b := range slab.All() {
				block(b)
			}
		}
	}
}

// slabs returns the budget for n slabs of an array.
func slabs(a *array, n float64) int64 {
	blocks := a.grid.Blocks()
	return int64(n * float64(blocks[0]*blocks[1]*(a.grid.BlockBytes()+overhead)))
}

// With a budget of 1½ slabs, each block is loaded once. Readers of the same file stay together and share the loads,
// because hits take no time and loads do.
func TestFlatReadLoadsOnce(t *testing.T) {
	for _, tt := range []struct {
		blocks  volume.Vec
		size    int
		readers int
		procs   int
	}{
		{volume.Vec{8, 8, 6}, 4096, 1, 0},
		{volume.Vec{8, 8, 6}, 4096, 1, 1},
		{volume.Vec{8, 8, 6}, 4096, 4, 0},
		{volume.Vec{8, 8, 6}, 4096, 4, 1},
		{volume.Vec{7, 3, 9}, 100, 4, 0},
		{volume.Vec{2, 1, 40}, 4096, 1, 0},
		{volume.Vec{1, 1, 40}, 4096, 4, 0},
	} {
		if testing.Short() && tt.procs == 1 {
			continue // the race detector sees the same
		}
		t.Run(fmt.Sprintf("%v blocks, %d readers, GOMAXPROCS=%d", tt.blocks, tt.readers, tt.procs), func(t *testing.T) {
			if tt.procs > 0 {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(tt.procs))
			}
			synctest.Test(t, func(t *testing.T) {
				a := newArray(1, tt.blocks, tt.size)
				a.wait = func(context.Context, volume.Vec) error {
					time.Sleep(time.Millisecond) // of the bubble
					return nil
				}
				c := newTestCache(t, slabs(a, 1.5))
				src := c.Source(a)
				var wg sync.WaitGroup
				for range tt.readers {
					wg.Go(func() { readFlat(tt.blocks, func(b volume.Vec) { checkBlock(t, src, a, b) }) })
				}
				wg.Wait()
				for b := range allBlocks(a) {
					if a.loads[b] != 1 {
						t.Errorf("block %v: %d loads, expected 1", b, a.loads[b])
					}
				}
			})
		})
	}
}

// BenchmarkFlatRead counts the loads of each block when a flat file is read once, for the table in the package comment.
func BenchmarkFlatRead(b *testing.B) {
	blocks := volume.Vec{16, 16, 8}
	for _, n := range []float64{1.1, 1.5, 2, 4} {
		b.Run(fmt.Sprintf("cache/slabs=%v", n), func(b *testing.B) {
			loads := 0
			for b.Loop() {
				a := newArray(1, blocks, 4096)
				c := New(slabs(a, n))
				src := c.Source(a)
				readFlat(blocks, func(at volume.Vec) { src.Read(b.Context(), []volume.Vec{at}, Always, ignore) })
				loads += a.total()
				c.Close()
			}
			b.ReportMetric(float64(loads)/float64(b.N*2048), "loads/block")
		})
		b.Run(fmt.Sprintf("ristretto/slabs=%v", n), func(b *testing.B) {
			loads := 0
			for b.Loop() {
				a := newArray(1, blocks, 4096)
				f := newFrequent(slabs(a, n))
				f.release = func(*entry) {}
				readFlat(blocks, func(at volume.Vec) {
					loads += loadByRistretto(f.ristretto, a, at)
				})
				f.close()
			}
			b.ReportMetric(float64(loads)/float64(b.N*2048), "loads/block")
		})
	}
}

// loadByRistretto reads a block through ristretto alone and returns the number of loads.
func loadByRistretto(r *ristretto.Cache[uint64, *entry], a *array, at volume.Vec) int {
	k := volume.Key{Index: uint64(at.Index(a.grid.Blocks()))}
	if _, ok := r.Get(hash(k)); ok {
		return 0
	}
	e := &entry{key: k, hash: hash(k), voxels: a.content(at)}
	r.Set(e.hash, e, e.cost())
	r.Wait()
	return 1
}
