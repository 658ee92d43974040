package importer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

var (
	allAxes = []int{2, 1, 0}
	onlyZ   = []int{2}
)

// share returns the weights of the lightest and of the heaviest part, as multiples of that of an equal part.
func share(c *cutter, parts []volume.Box) (lightest, heaviest float64) {
	lightest = math.Inf(1)
	equal := c.weight(c.box) / float64(len(parts))
	for _, part := range parts {
		lightest, heaviest = min(lightest, c.weight(part)/equal), max(heaviest, c.weight(part)/equal)
	}
	return lightest, heaviest
}

// checkCut checks that n parts are disjoint, have all voxels, end between cells, and are the same again. Parts are
// empty only if there are fewer cells.
func checkCut(t *testing.T, c *cutter, n int) []volume.Box {
	t.Helper()
	parts := c.cut(n)
	if again := newCutter(c.box, c.cell, c.axes, nil); len(parts) != n ||
		c.sums == nil && !slices.Equal(again.cut(n), parts) || !slices.Equal(c.cut(n), parts) {
		t.Fatalf("%d parts of %v: got %d, or others the second time", n, c.box, len(parts))
	}
	voxels, filled := 0, 0
	for i, part := range parts {
		if part.Empty() {
			continue
		}
		size := part.Size()
		voxels += size[0] * size[1] * size[2]
		filled++
		for axis := range 3 {
			cut := slices.Contains(c.axes, axis)
			for _, at := range []int{part.Min[axis], part.Max[axis]} {
				if at != c.box.Min[axis] && at != c.box.Max[axis] && (!cut || at%c.cell[axis] != 0) {
					t.Fatalf("part %d/%d of %v is %v, in cells of %v on the axes %v", i+1, n, c.box, part, c.cell,
						c.axes)
				}
			}
		}
		for _, other := range parts[:i] {
			if !part.Intersect(other).Empty() {
				t.Fatalf("parts %v and %v of %v", part, other, c.box)
			}
		}
	}
	if size := c.box.Size(); voxels != size[0]*size[1]*size[2] {
		t.Fatalf("%d parts of %v have %d voxels: %v", n, c.box, voxels, parts)
	}
	if cells := c.cells(c.box, c.axes); filled != min(n, cells) {
		t.Fatalf("of %d parts of %d cells, %d have voxels: %v", n, cells, filled, parts)
	}
	return parts
}

// TestCutBox cuts random boxes with random stored bytes, in parts of any number.
func TestCutBox(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it starts no goroutine")
	}
	random := rand.New(rand.NewPCG(7, 8))
	for range cases(200) {
		var box volume.Box
		var cell volume.Vec
		for axis := range 3 {
			box.Min[axis] = random.IntN(40)
			box.Max[axis] = box.Min[axis] + 1 + random.IntN(60)
			cell[axis] = 1 << random.IntN(6)
		}
		axes, n := allAxes, 1+random.IntN(30)
		var stored []int64
		if random.IntN(2) > 0 {
			stored = make([]int64, box.Size()[2])
			for z := range stored {
				stored[z] = random.Int64N(1000) * random.Int64N(3)
			}
		}
		if random.IntN(2) > 0 {
			axes = onlyZ
		}
		checkCut(t, newCutter(box, cell, axes, stored), n)
	}
}

// FuzzCutBox cuts any box with any stored bytes.
func FuzzCutBox(f *testing.F) {
	f.Add(uint8(3), uint8(40), uint8(50), uint8(8), uint8(5), []byte{1, 0, 0, 200, 7})
	f.Add(uint8(0), uint8(1), uint8(200), uint8(1), uint8(250), []byte{0})
	f.Fuzz(func(t *testing.T, from, x, y, side, n uint8, stored []byte) {
		if len(stored) == 0 || len(stored) > 300 {
			return
		}
		least := volume.Cube(int(from))
		box := volume.Box{Min: least, Max: least.Add(volume.Vec{int(x) + 1, int(y) + 1, len(stored)})}
		bytes := make([]int64, len(stored))
		for z, b := range stored {
			bytes[z] = int64(b) << (b % 56)
		}
		for _, axes := range [][]int{allAxes, onlyZ} {
			checkCut(t, newCutter(box, volume.Cube(int(side)+1), axes, bytes), int(n)+1)
			checkCut(t, newCutter(box, volume.Cube(int(side)+1), axes, nil), int(n)+1)
		}
	})
}

// TestCutIsTheSameEverywhere: tasks on machines with other processors cut in the same way. If this fails because cuts
// are meant to change, parts of an import that was started before are refused.
func TestCutIsTheSameEverywhere(t *testing.T) {
	box := volume.Box{Min: volume.Vec{7, 300, 11}, Max: volume.Vec{1007, 1300, 911}}
	stored := planesOf([2]int64{300, 1}, [2]int64{300, 1000}, [2]int64{300, 70})
	var got []string
	for _, bytes := range [][]int64{nil, stored} {
		for _, axes := range [][]int{onlyZ, allAxes} {
			got = append(got, fingerprint(newCutter(box, volume.Vec{64, 32, 16}, axes, bytes).cut(37)))
		}
	}
	if want := []string{"f349ce278907e01d", "bc17983d26f76c6a", "aafc63d074e8f180",
		"097e1f9cd1d8f9f4"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// planesOf returns the stored bytes of planes, from runs of a number of planes with these bytes.
func planesOf(runs ...[2]int64) (all []int64) {
	for _, run := range runs {
		all = append(all, slices.Repeat([]int64{run[1]}, int(run[0]))...)
	}
	return all
}

// TestCutByStoredBytes: where the parts of planes with these stored bytes start. They are as equal as whole cells
// allow.
func TestCutByStoredBytes(t *testing.T) {
	for name, test := range map[string]struct {
		stored   []int64
		from     int // first plane of the layer
		cell     int // planes
		n        int
		want     []int   // first planes of the parts that are not empty, but the first
		heaviest float64 // as a multiple of an equal part
	}{
		"equal":      {planesOf([2]int64{12, 5}), 0, 1, 3, []int{4, 8}, 1},
		"rest":       {planesOf([2]int64{10, 5}), 0, 1, 4, []int{3, 5, 8}, 1.2},
		"black half": {planesOf([2]int64{40, 1}, [2]int64{40, 130}), 0, 1, 4, []int{50, 60, 70}, 1.023},
		"black in between": {planesOf([2]int64{20, 100}, [2]int64{60, 0}, [2]int64{20, 100}), 0, 10, 4,
			[]int{10, 50, 90}, 1.015},
		"one heavy plane":   {planesOf([2]int64{5, 1}, [2]int64{1, 1000}, [2]int64{5, 1}), 0, 1, 3, []int{5, 6}, 3},
		"no bytes":          {planesOf([2]int64{9, 0}), 0, 1, 3, []int{3, 6}, 1},
		"fewer cells":       {planesOf([2]int64{20, 3}), 0, 8, 30, []int{8, 16}, 12},
		"not aligned":       {planesOf([2]int64{2, 900}, [2]int64{16, 100}), 6, 8, 2, []int{8}, 1.06},
		"last cell is thin": {planesOf([2]int64{16, 1}, [2]int64{1, 32}), 0, 8, 2, []int{16}, 1.34},
		"greedy is wrong":   {[]int64{4, 3, 3, 3, 4, 1}, 0, 1, 3, []int{2, 4}, 7. / 6},
		"far too many":      {planesOf([2]int64{8, math.MaxInt64}), 0, 1, 4, []int{2, 4, 6}, 1},
	} {
		box := volume.Box{Min: volume.Vec{3, 4, test.from}, Max: volume.Vec{103, 104, test.from + len(test.stored)}}
		c := newCutter(box, volume.Vec{8, 8, test.cell}, onlyZ, test.stored)
		parts := checkCut(t, c, test.n)
		var starts []int
		for _, part := range parts[1:] {
			if !part.Empty() {
				starts = append(starts, part.Min[2])
			}
		}
		if _, heaviest := share(c, parts); !slices.Equal(starts, test.want) || heaviest > test.heaviest*1.001 {
			t.Errorf("%s: parts start at %v, and the heaviest has %.3f of an equal part; want %v, %.3f", name, starts,
				heaviest, test.want, test.heaviest)
		}
	}
}

// TestCutLineIsBest: the heaviest part of a line is as light as that of any other cut.
func TestCutLineIsBest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 9))
	for range cases(500) {
		stored := make([]int64, 1+random.IntN(25))
		for z := range stored {
			stored[z] = 1 + random.Int64N(1+random.Int64N(1000))
		}
		c := newCutter(volume.Box{Max: volume.Vec{1, 1, len(stored)}}, volume.Cube(1+random.IntN(3)), onlyZ, stored)
		l := c.line(c.box, 2)
		n := 1 + random.IntN(l.cells())
		// least[k] is the weight of the heaviest of some parts of the first k cells.
		least := slices.Repeat([]int64{math.MaxInt64}, l.cells()+1)
		least[0] = 0
		for range n {
			for end := l.cells(); end > 0; end-- {
				for k := range end {
					least[end] = min(least[end], max(least[k], l.weight(k, end)))
				}
			}
		}
		starts := l.cut(n)
		heaviest := int64(0)
		for i := range n {
			heaviest = max(heaviest, l.weight(starts[i], starts[i+1]))
		}
		if heaviest != least[l.cells()] {
			t.Fatalf("%d parts of %v start at %v: the heaviest has %d, expected %d", n, stored, starts, heaviest,
				least[l.cells()])
		}
	}
}

// TestCutIsEqual: with 16 cells or more for each part, no part has more than 1.25 of an equal part. Of 1,000 parts of
// large layers, none has more than 1.05, or than 1.15 if planes with different bytes are cut on all axes.
func TestCutIsEqual(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range cases(1000) {
		size := volume.Vec{1 + random.IntN(20), 1 + random.IntN(20), 1 + random.IntN(20)}
		cells := size[0] * size[1] * size[2]
		n := 1 + random.IntN(60)
		if cells < 16*n {
			continue
		}
		c := newCutter(volume.Box{Max: size.Mul(volume.Cube(16))}, volume.Cube(16), allAxes, nil)
		if _, heaviest := share(c, c.cut(n)); heaviest > 1.25 {
			t.Errorf("of %d parts of %v cells, the heaviest has %.2f of an equal part", n, size, heaviest)
		}
	}

	black := planesOf([2]int64{2500, 1}, [2]int64{2500, 130})
	noisy := slices.Clone(black)
	for z := range noisy {
		noisy[z] = 500 + random.Int64N(1000)
	}
	for name, test := range map[string]struct {
		box    volume.Box
		cell   volume.Vec
		axes   []int
		stored []int64
		limit  float64
	}{
		"65,536³": {volume.Box{Max: volume.Cube(1 << 16)}, volume.Cube(512), allAxes, nil, 1.05},
		"flat": {volume.Box{Max: volume.Vec{1 << 16, 1 << 16, 512}}, volume.Cube(512), allAxes, nil,
			1.05},
		"odd": {volume.Box{Min: volume.Vec{5, 700, 99}, Max: volume.Vec{100_005, 80_700, 7099}},
			volume.Cube(512), allAxes, nil, 1.05},
		"largest":       {volume.Box{Max: volume.Cube(1 << 40)}, volume.Cube(32), allAxes, nil, 1.05},
		"noise":         {volume.Box{Max: volume.Cube(5000)}, volume.Cube(128), allAxes, noisy, 1.15},
		"half is black": {volume.Box{Max: volume.Cube(5000)}, volume.Cube(128), allAxes, black, 1.15},
		"slices, one by one": {volume.Box{Max: volume.Vec{5000, 5000, 100_000}}, volume.Vec{512, 512, 1}, onlyZ,
			slices.Repeat(noisy, 20), 1.05},
		"black, in 64 planes": {volume.Box{Max: volume.Vec{900, 900, 5_000_000}}, volume.Cube(64), onlyZ,
			slices.Repeat(black, 1000), 1.05},
	} {
		start := time.Now()
		c := newCutter(test.box, test.cell, test.axes, test.stored)
		lightest, heaviest := share(c, c.cut(1000))
		t.Logf("%s: %.3f to %.3f of an equal part, in %v", name, lightest, heaviest,
			time.Since(start).Round(time.Millisecond))
		if heaviest > test.limit {
			t.Errorf("%s: the heaviest part has %.3f of an equal part", name, heaviest)
		}
	}
}
