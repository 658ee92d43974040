package prefetch

import (
	"context"
	"io"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// decoder is a source that takes about as long as LZ4 for a block.
type decoder struct {
	grid  volume.Grid
	speed vfs.Speed
	fail  func(at volume.Vec) error // may be nil
}

func (d decoder) Grid() volume.Grid { return d.grid }
func (d decoder) Speed() vfs.Speed  { return d.speed }

func (d decoder) Fill(_ context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		if d.fail != nil {
			if b.Err = d.fail(b.At); b.Err != nil {
				continue
			}
		}
		b.Voxels = memory(b.At)
		for n, x := 0, byte(b.At[0]); n < len(b.Voxels); n += 2 {
			x += x >> 3
			b.Voxels[n], b.Voxels[n+1] = x, byte(n)
		}
	}
}

// BenchmarkWhole reads boxes that are opened once, of a file each.
func BenchmarkWhole(b *testing.B) {
	grid := voxeltest.Grid(volume.Cube(512), volume.Cube(32), volume.Uint8, 1)
	d := decoder{grid: grid, speed: vfs.Speed{AtOnce: true}}
	for _, side := range []int{64, 128, 192} {
		b.Run(volume.Cube(side).String(), func(b *testing.B) {
			c := cache.New(64 << 20)
			defer c.Close()
			prefetcher, source := New(c), c.Source(d)
			data := make([]byte, side*side*side)
			b.SetBytes(int64(len(data)))
			n := 0
			for b.Loop() {
				at := volume.Vec{n * side % 300, n * 32 % 300, n / 5 * 32 % 300}
				n++
				a := flat.New(d.grid, volume.Box{Min: at, Max: at.Add(volume.Cube(side))}, volume.Box{Max: d.grid.Size})
				r := prefetcher.NewReader(Array{Array: a, Source: source}, HintOnce)
				if _, err := r.ReadAt(b.Context(), data, 0); err != nil && err != io.EOF {
					b.Fatal(err)
				}
				r.Close()
			}
		})
	}
}
