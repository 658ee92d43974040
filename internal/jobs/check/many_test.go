package check_test

import (
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// tinyCubes returns a mag of n cubes in one directory. Each has one voxel of uint8.
func tinyCubes(t *testing.T, n int) *voxeltest.Many {
	t.Helper()
	h := wkw.Header{CubeBlocks: 1, BlockSide: 1, BlockType: wkw.Raw, Type: volume.Uint8, Channels: 1,
		DataOffset: wkw.HeaderSize}
	cube, err := h.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	h.DataOffset = 0
	header, err := h.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return voxeltest.ManyCubes(n, append(cube, 1), header)
}

// TestManyCubes: a check of many cubes in one directory takes little memory.
func TestManyCubes(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	const limit = 100 << 20
	n := voxeltest.Large(200_000)
	var lines []string
	peak := voxeltest.PeakHeap(func() {
		got, stats := run(t, tinyCubes(t, n), ".")
		if lines = got; stats.Cubes.Load() != int64(n) || stats.Found.Load() != int64(n) ||
			stats.Bytes.Load() != int64(n) {
			t.Errorf("%d cubes of %d, %d bytes", stats.Cubes.Load(), stats.Found.Load(), stats.Bytes.Load())
		}
	})
	if len(lines) > 0 || peak > limit {
		t.Errorf("%d findings with %d MiB, want none with at most %d: %.10q", len(lines), peak>>20, limit>>20,
			lines[:min(len(lines), 3)])
	}
}
