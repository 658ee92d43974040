package lattice

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

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
		l, err := New(c.size)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Morton(c.at); got != c.want {
			t.Errorf("%v of %v: got %d, expected %d", c.at, c.size, got, c.want)
		}
	}
}

// TestMortonIsOneToOne: each chunk of a grid has its own code, and all other codes have no chunk.
func TestMortonIsOneToOne(t *testing.T) {
	for _, size := range []volume.Vec{{1, 1, 1}, {2, 3, 4}, {5, 1, 9}, {1, 1, 17}, {8, 8, 8}, {16, 2, 1}} {
		l, err := New(size)
		if err != nil {
			t.Fatal(err)
		}
		chunks := 0
		for code := range uint64(1) << (l.bits[0] + l.bits[1] + l.bits[2] + 1) {
			if c, ok := l.Unmorton(code); ok {
				chunks++
				if l.Morton(c) != code {
					t.Errorf("%v: chunk %v has the codes %d and %d", size, c, code, l.Morton(c))
				}
			}
		}
		if chunks != size[0]*size[1]*size[2] {
			t.Errorf("%v: %d chunks have codes", size, chunks)
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
		l, err := New(size)
		if (err == nil) != ok {
			t.Errorf("%v: %v", size, err)
		}
		last := size.Sub(volume.Cube(1))
		if c, found := l.Unmorton(l.Morton(last)); ok && (!found || c != last) {
			t.Errorf("%v: the Morton code of the last chunk is that of %v, %v", size, c, found)
		}
		p := NewPositions(l, []uint64{l.Raster(last)})
		if zs, found := p.Level(); ok && (!found || !slices.Equal(zs, []int{last[2]}) || !p.Contains(last)) {
			t.Errorf("%v: the last chunk is listed as %v, %v", size, zs, found)
		}
	}
}

// TestPositions compares positions with maps.
func TestPositions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []volume.Vec{{1, 1, 1}, {3, 4, 5}, {9, 1, 7}, {1, 16, 2}} {
		l, err := New(size)
		if err != nil {
			t.Fatal(err)
		}
		var list []uint64
		levels := map[[3]int]map[int]bool{} // z, y, depth → numbers; z and y are -1 above their level
		add := func(z, y, depth, n int) {
			key := [3]int{z, y, depth}
			if levels[key] == nil {
				levels[key] = map[int]bool{}
			}
			levels[key][n] = true
		}
		for c := range (volume.Box{Max: size}).All() {
			if random.IntN(3) > 0 {
				list = append(list, l.Raster(c), l.Raster(c))
				add(-1, -1, 0, c[2])
				add(c[2], -1, 1, c[1])
				add(c[2], c[1], 2, c[0])
			}
		}
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		p := NewPositions(l, list)
		check := func(want map[int]bool, zy ...int) {
			t.Helper()
			got, ok := p.Level(zy...)
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
