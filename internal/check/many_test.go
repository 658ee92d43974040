package check_test

import (
	"testing"

	"github.com/wkwfs/wkwfs/internal/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestManyCubes: a check of many cubes in one directory takes little memory.
func TestManyCubes(t *testing.T) {
	const limit = 100 << 20
	n := voxeltest.Large(200_000)
	h := wkw.Header{CubeBlocks: 1, BlockSide: 1, BlockType: wkw.Raw, Type: volume.Uint8, Channels: 1, DataOffset: wkw.HeaderSize}
	cube, err := h.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	h.DataOffset = 0
	header, err := h.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	peak := voxeltest.PeakHeap(func() {
		got, stats := run(t, voxeltest.ManyCubes(n, append(cube, 1), header), ".")
		if lines = got; stats.Cubes.Load() != int64(n) || stats.Found.Load() != int64(n) || stats.Bytes.Load() != int64(n) {
			t.Errorf("%d cubes of %d, %d bytes", stats.Cubes.Load(), stats.Found.Load(), stats.Bytes.Load())
		}
	})
	if len(lines) > 0 || peak > limit {
		t.Errorf("%d findings with %d MiB, want none with at most %d: %.10q", len(lines), peak>>20, limit>>20, lines[:min(len(lines), 3)])
	}
}
