package prefetch

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// slabsOf returns the blocks of slabs from to end of the scene.
func slabsOf(from, end int) volume.Box {
	return volume.Box{Min: volume.Vec{0, 0, from}, Max: volume.Vec{8, 8, end}}
}

// TestAnnounce: a sequential reader announces each slab of a local disk once, in pairs, ahead of the slab that it
// decodes. Nothing is announced of other sources, by other readers, or if slabs are decoded in parts.
func TestAnnounce(t *testing.T) {
	for _, c := range []struct {
		name   string
		atOnce bool
		budget int64
		hint   Hint
		planes int // that are read
		want   []volume.Box
	}{
		{"all of it", true, fitsOneReader, HintSequential, 32, []volume.Box{slabsOf(0, 4)}},
		{"the detector decides", true, fitsOneReader, NoHint, 32, []volume.Box{slabsOf(0, 4)}},
		{"a source that may answer late", false, fitsOneReader, HintSequential, 32, nil},
		{"parts of slabs", true, fitsPartialSlabs, HintSequential, 32, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			inScene(t, c.budget, func(t *testing.T, s *scene) {
				s.atOnce = c.atOnce
				r := s.openAll(c.hint)
				defer r.Close()
				s.read(r, 0, int64(c.planes)*scenePlane)
				synctest.Wait()
				if fmt.Sprint(s.announced) != fmt.Sprint(c.want) {
					t.Errorf("announced %v, expected %v", s.announced, c.want)
				}
			})
		})
	}
}

// TestAnnouncedEnd: what is announced ends where a pair of slabs ends, in the numbers of the grid, and has a bounded
// size.
func TestAnnouncedEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		voxel volume.Type
		minZ  int   // of the array, in slabs
		want  []int // for portions 0, 1, …, the last ones of the array
	}{
		{"slabs of 32 MiB", volume.Uint8, 0, []int{4, 4, 6, 6, 8, 8, 8, 8}},
		{"from the second slab of a pair on", volume.Uint8, 1, []int{3, 5, 5, 7, 7, 7, 7}},
		{"slabs of 64 MiB", volume.Uint16, 0, []int{4, 4, 6, 6, 8, 8, 8, 8}},
		{"slabs of 128 MiB", volume.Uint32, 0, []int{2, 2, 4, 4, 6, 6, 8, 8}},
		{"slabs of 256 MiB", volume.Uint64, 0, []int{0, 1, 2, 3, 4, 5, 6, 7}},
	} {
		size := volume.Vec{1024, 1024, 256}
		a := flat.New(voxeltest.Grid(size, volume.Cube(32), c.voxel, 1), volume.Box{Min: volume.Vec{0, 0, 32 * c.minZ},
			Max: size}, volume.Box{Max: size})
		for i, want := range c.want {
			if got := newLayout(a, &usual).announcedEnd(i, 1); got != want {
				t.Errorf("%s: portion %d: got %d, expected %d", c.name, i, got, want)
			}
		}
	}
}

// TestAnnouncedEndOfThinSlabs: of portions of several slabs, as many portions are announced.
func TestAnnouncedEndOfThinSlabs(t *testing.T) {
	size := volume.Vec{1024, 1024, 256}
	a := flat.New(voxeltest.Grid(size, volume.Vec{1024, 64, 1}, volume.Uint8, 1), volume.Box{Max: size},
		volume.Box{Max: size})
	for i, want := range map[int]int{0: 96, 32: 128, 160: 256, 192: 256, 255: 256} {
		if got := newLayout(a, &usual).announcedEnd(i, 32); got != want {
			t.Errorf("portion from slab %d on: got %d, expected %d", i, got, want)
		}
	}
}
