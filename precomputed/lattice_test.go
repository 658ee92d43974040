package precomputed

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

func TestMurmur(t *testing.T) {
	for n, want := range map[uint64]uint64{
		0: 0x4772b084e028ae41, 249: 0x39554ceab4ce78a7, 212: 0x1187f86987692e04, 3369 >> 9: 0x1fd9d823a062df38,
		143074590926857: 0xe379858cbb050032,
	} {
		if got := murmur(n); got != want {
			t.Errorf("murmur(%d) is %x, expected %x", n, got, want)
		}
	}
}

func TestMorton(t *testing.T) {
	for _, c := range []struct {
		size, at volume.Vec
		want     uint64
	}{
		{volume.Vec{1, 1, 1}, volume.Vec{}, 0},
		{volume.Vec{2, 2, 2}, volume.Vec{1, 0, 1}, 0b101},
		{volume.Vec{34, 3, 1}, volume.Vec{33, 2, 0}, 137},
		{volume.Vec{34, 3, 1}, volume.Vec{28, 2, 0}, 120},
		{volume.Vec{8, 7, 3}, volume.Vec{7, 6, 2}, 249},
		{volume.Vec{125000, 87500, 11250}, volume.Vec{131, 70000, 9000}, 143074590926857},
	} {
		l, err := newLattice(c.size)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.morton(c.at); got != c.want {
			t.Errorf("%v of %v: got %d, expected %d", c.at, c.size, got, c.want)
		}
	}
}

// TestMortonIsOneToOne: all chunks of a grid have different numbers, and no other
// number has a chunk.
func TestMortonIsOneToOne(t *testing.T) {
	for _, size := range []volume.Vec{{1, 1, 1}, {2, 3, 4}, {5, 1, 9}, {1, 1, 17}, {8, 8, 8}, {16, 2, 1}} {
		l, err := newLattice(size)
		if err != nil {
			t.Fatal(err)
		}
		chunks := 0
		for code := range uint64(1) << (l.bits[0] + l.bits[1] + l.bits[2] + 1) {
			if c, ok := l.unmorton(code); ok {
				chunks++
				if l.morton(c) != code {
					t.Errorf("%v: chunk %v has the numbers %d and %d", size, c, code, l.morton(c))
				}
			}
		}
		if chunks != size[0]*size[1]*size[2] {
			t.Errorf("%v: %d chunks have numbers", size, chunks)
		}
	}
}

func TestLatticeLimits(t *testing.T) {
	for size, ok := range map[volume.Vec]bool{
		{1 << 40, 1 << 24, 1}:       true,
		{1 << 40, 1<<24 + 1, 1}:     false,
		{1 << 22, 1 << 21, 1 << 21}: true,
		{1 << 40, 1 << 40, 1 << 40}: false,
	} {
		l, err := newLattice(size)
		if (err == nil) != ok {
			t.Errorf("%v: %v", size, err)
		}
		last := size.Sub(volume.Cube(1))
		if c, found := l.unmorton(l.morton(last)); ok && (!found || c != last) {
			t.Errorf("%v: the last chunk comes back as %v, %v", size, c, found)
		}
		p := newPositions(l, []uint64{l.raster(last)})
		if zs, found := p.level(); ok && (!found || !slices.Equal(zs, []int{last[2]}) || !p.contains(last)) {
			t.Errorf("%v: the last chunk is listed as %v, %v", size, zs, found)
		}
	}
}

// TestPositions compares with the obvious way to do it.
func TestPositions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []volume.Vec{{1, 1, 1}, {3, 4, 5}, {9, 1, 7}, {1, 16, 2}} {
		l, err := newLattice(size)
		if err != nil {
			t.Fatal(err)
		}
		var list []uint64
		levels := map[[3]int]map[int]bool{} // z, y (−1: above it), depth → numbers
		note := func(z, y, depth, n int) {
			key := [3]int{z, y, depth}
			if levels[key] == nil {
				levels[key] = map[int]bool{}
			}
			levels[key][n] = true
		}
		for c := range (volume.Box{Max: size}).All() {
			if random.IntN(3) > 0 {
				list = append(list, l.raster(c), l.raster(c))
				note(-1, -1, 0, c[2])
				note(c[2], -1, 1, c[1])
				note(c[2], c[1], 2, c[0])
			}
		}
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		p := newPositions(l, list)
		check := func(want map[int]bool, zy ...int) {
			t.Helper()
			got, ok := p.level(zy...)
			if ok != (len(want) > 0 || len(zy) == 0) || len(got) != len(want) || !slices.IsSorted(got) {
				t.Errorf("%v below %v: got %v, %v, expected %v", size, zy, got, ok, want)
			}
			for _, n := range got {
				if !want[n] {
					t.Errorf("%v below %v: got %d", size, zy, n)
				}
			}
		}
		check(levels[[3]int{-1, -1, 0}])
		for z := -1; z <= size[2]; z++ {
			check(levels[[3]int{z, -1, 1}], z)
			for y := -1; y <= size[1]; y++ {
				want := levels[[3]int{z, y, 2}]
				if y < 0 {
					want = nil
				}
				check(want, z, y)
			}
		}
	}
}
