package pyramid

import (
	"math/rand/v2"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestZstdOfNoise: blocks whose values do not repeat but are not equally frequent take fewer bytes, as with libzstd.
func TestZstdOfNoise(t *testing.T) {
	g := volume.Grid{Size: volume.Cube(32), Block: volume.Cube(32), Type: volume.Uint8, Channels: 1}
	block := make([]byte, g.BlockBytes())
	r := rand.New(rand.NewPCG(1, 2))
	for i := range block {
		block[i] = byte(128 + 12*r.NormFloat64()) // 5.6 bits of information
	}
	e := shardLayout{grid: g}.newEncoder()
	b, err := e.Encode(make([]byte, 0, e.Bound()), block)
	if err != nil || len(b) > len(block)*3/4 {
		t.Errorf("got %d bytes for %d, %v, expected at most three quarters", len(b), len(block), err)
	}
}
