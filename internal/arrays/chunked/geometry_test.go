package chunked

import (
	"math"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/volume"
)

// TestShownChannels tries all channels of small arrays, and numbers that overflow. Those that the array does not have
// are an error, never zeros. The pieces of a block have each of the others once.
func TestShownChannels(t *testing.T) {
	const largest = math.MaxInt
	numbers := []int{math.MinInt, -1, 0, 1, 2, 3, 4, 5, 6, maxChannels, largest - 1, largest}
	for total := 1; total <= 5; total++ {
		for chunk := 1; chunk <= total+1; chunk++ {
			a := &Array{Shape: []int{total, 2, 2}, Chunk: []int{chunk, 2, 2}, Type: volume.Uint8, Order: []int{0, 1, 2},
				Names: []string{"c", "y", "x"}}
			for _, first := range numbers {
				for _, count := range numbers {
					end := first + count
					if count == 0 {
						end = total
					}
					valid := first >= 0 && first < total && count >= 0 && count <= total && end <= total
					g, err := newGeometry(a, Options{Channel: first, Channels: count})
					if (err == nil) != valid {
						t.Fatalf("channels %d to %d of %d: %v", first, end, total, err)
					}
					if !valid {
						continue
					}
					m := &Mag{geometry: g, array: a}
					var got []int
					pieces := 0
					for k := g.channels[0] / chunk; k*chunk < g.channels[1]; k++ {
						l := m.layout(k, a.Chunk)
						for i := range l.n[0] {
							if l.toAt+i != len(got) {
								t.Errorf("channels %d to %d of %d, %d to a chunk: channel %d of the block after %v",
									first, end, total, chunk, l.toAt+i, got)
							}
							got = append(got, k*chunk+l.fromAt/l.from[0]+i)
						}
						pieces++
					}
					var want []int
					for c := first; c < end; c++ {
						want = append(want, c)
					}
					if !slices.Equal(got, want) || pieces != m.piecesOf() || g.grid.Channels != len(want) {
						t.Errorf("channels %d to %d of %d, %d to a chunk: %d pieces have %v", first, end, total, chunk,
							pieces, got)
					}
				}
			}
		}
	}
}

// TestAllDivisions divides all small chunks at all small units. The blocks of a chunk are equal, have whole units, at
// least the least bytes of a part and at most maxBlocks of them. They have the stored bytes of the chunk together.
func TestAllDivisions(t *testing.T) {
	for side := 2; side <= 40; side++ {
		for row := 1; row <= 3; row++ {
			for unit := 1; unit <= 12; unit++ {
				for least := 1; least <= 9; least++ {
					a := &Array{Shape: []int{90, row}, Chunk: []int{side, row}, Type: volume.Uint16, Order: []int{0, 1},
						Codecs: codec.Chain{codec.Blosc{}}, Unit: unit}
					g, err := newGeometry(a, Options{minPart: least})
					if err != nil {
						t.Fatal(err)
					}
					m := &Mag{geometry: g, array: a}
					n, bytes := m.blocksOf(), g.grid.BlockBytes()
					most := 1
					for n := 1; n <= min(side, 16); n++ {
						if part := side * row * 2 / n; side%n == 0 && part%unit == 0 && part >= least {
							most = n
						}
					}
					if n != most || n*bytes != side*row*2 || g.grid.Block[1]*n != side || g.grid.Size[1] != side {
						t.Errorf(
							"%d × %d values in units of %d, parts of at least %d: %d blocks of %d bytes, expected %d",
							side, row, unit, least, n, bytes, most)
					}
				}
			}
		}
	}
}
