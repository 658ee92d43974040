package downsample

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// BenchmarkReduce reports bytes of src per second. The arrays fit into the cache of a processor.
func BenchmarkReduce(b *testing.B) {
	for _, test := range []struct {
		m        Method
		t        volume.Type
		channels int
		fill     string
	}{
		{Mean, volume.Uint8, 1, "random"},
		{Mean, volume.Int8, 1, "random"},
		{Mean, volume.Uint8, 3, "random"},
		{Mean, volume.Uint8, 4, "random"},
		{Mean, volume.Uint16, 1, "random"},
		{Mean, volume.Uint32, 1, "random"},
		{Mean, volume.Int64, 1, "random"},
		{Mean, volume.Float32, 1, "finite"},
		{Mean, volume.Float64, 1, "finite"},
		{Mode, volume.Uint8, 1, "cells"},
		{Mode, volume.Uint8, 1, "random"},
		{Mode, volume.Uint16, 1, "cells"},
		{Mode, volume.Uint32, 1, "zero"},
		{Mode, volume.Uint32, 1, "cells"},
		{Mode, volume.Uint32, 1, "random"},
		{Mode, volume.Uint64, 1, "zero"},
		{Mode, volume.Uint64, 1, "cells"},
		{Mode, volume.Float32, 1, "finite"},
		{Max, volume.Uint8, 1, "random"},
		{Max, volume.Uint16, 1, "random"},
		{Max, volume.Float32, 1, "finite"},
		{Nearest, volume.Uint8, 1, "random"},
		{Nearest, volume.Uint32, 1, "random"},
	} {
		for _, ratio := range []volume.Vec{{2, 2, 2}, {2, 2, 1}, {1, 1, 2}} {
			b.Run(fmt.Sprintf("%v/%vx%d/%s/%v", test.m, test.t, test.channels, test.fill, ratio), func(b *testing.B) {
				size := volume.Vec{512 / test.t.Size(), 32, 32}
				r := mustNew(b, test.m, test.t, test.channels, ratio)
				src := newArray(test.t, test.channels, size, 0, 0, 0)
				switch test.fill {
				case "zero":
				case "cells":
					src.fillCells()
				default:
					src.fill(1, fills[test.fill])
				}
				dst := newArray(test.t, test.channels, size.Div(ratio), 0, 0, 0)
				b.SetBytes(int64(len(src.b)))
				for b.Loop() {
					r.Reduce(dst.b, dst.pitch, src.b, src.pitch, size)
				}
			})
		}
	}
}

// fillCells gives each voxel the number of the nearest of random points, as in a segmentation: one voxel in five has a
// neighbour with another number.
func (a array) fillCells() {
	rng := rand.New(rand.NewPCG(1, 1))
	points := make([]volume.Vec, max(1, a.size[0]*a.size[1]*a.size[2]/4000))
	for i := range points {
		points[i] = volume.Vec{rng.IntN(a.size[0]), rng.IntN(a.size[1]), rng.IntN(a.size[2])}
	}
	for p := range a.box().All() {
		best, nearest := 0, 1<<30
		for i, q := range points {
			d := p.Sub(q)
			if n := d[0]*d[0] + d[1]*d[1] + d[2]*d[2]; n < nearest {
				best, nearest = i, n
			}
		}
		for j := range a.value(p, 0) {
			a.value(p, 0)[j] = byte(uint64(best+1) * 0x9e37_79b9_7f4a_7c15 >> (8 * j))
		}
	}
}
