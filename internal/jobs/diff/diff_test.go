package diff

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/compose/overlay"
	"github.com/wkwfs/wkwfs/volume"
)

// compare compares two mags. It returns what was found.
func compare(t *testing.T, a, b volume.Mag, l limits) (found []Difference, faults []Fault, stats *Stats) {
	t.Helper()
	blocks := cache.New(1 << 20)
	defer blocks.Close()
	stats = &Stats{}
	_, err := mags(t.Context(), a, b, Options{
		Cache: blocks, Jobs: 3, Stats: stats,
		Found:  func(d Difference) { found = append(found, d) },
		Failed: func(f Fault) { faults = append(faults, f) },
	}, l)
	if err != nil {
		t.Fatal(err)
	}
	if stats.Planes.Load() != stats.AllPlanes.Load() {
		t.Errorf("%d of %d planes are done", stats.Planes.Load(), stats.AllPlanes.Load())
	}
	return found, faults, stats
}

// TestDiffModel compares random mags and overlays of any blocks, cubes and bounding boxes with a model that compares
// voxel by voxel. The boxes have all voxels that differ, each once, and each box has as many as it says.
func TestDiffModel(t *testing.T) {
	equal, different := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		bounds := box(r)
		a := random(r, bounds, 2)
		b := random(r, bounds, 2)
		var aboveA, aboveB *fake
		switch seed % 5 {
		case 0:
			b.bounds = box(r)
		case 1: // nearly the same
			b.grid, b.ages = a.grid, maps.Clone(a.ages)
			for c := range b.ages {
				if r.IntN(4) == 0 {
					b.ages[c]++
				}
			}
		case 2: // an annotation over the layer
			b, aboveB = a, random(r, bounds, 9)
		case 3: // two over one
			b, aboveA, aboveB = a, random(r, bounds, 9), random(r, box(r), 9)
		case 4: // the same cubes, in another box
			b.grid, b.ages, b.bounds = a.grid, a.ages, box(r)
		}
		l := limits{
			unit: 1 + r.IntN(4), unitMost: 1 + r.IntN(64), run: 1 + r.IntN(100), cell: 1 + r.IntN(4),
			cells: r.IntN(2) * 1000, stored: 10000,
		}
		found, faults, _ := compare(t, over(a, aboveA), over(b, aboveB), l)
		if len(faults) > 0 {
			t.Fatalf("seed %d: %v", seed, faults)
		}
		seen := map[volume.Vec]bool{}
		for _, d := range found {
			n := int64(0)
			for v := range d.Box.All() {
				if seen[v] {
					t.Fatalf("seed %d: %v is in two boxes", seed, v)
				}
				if seen[v] = true; at(v, a, aboveA) != at(v, b, aboveB) {
					n++
				}
			}
			if n != d.Voxels || n == 0 {
				t.Errorf("seed %d: box %v: got %d voxels that differ, want %d", seed, d.Box, d.Voxels, n)
			}
		}
		for v := range a.bounds.Union(b.bounds).All() {
			if at(v, a, aboveA) != at(v, b, aboveB) && !seen[v] {
				t.Fatalf("seed %d: voxel %v differs and is in no box", seed, v)
			}
		}
		if len(found) == 0 {
			equal++
		} else {
			different++
		}
	}
	if equal < 5 || different < 100 {
		t.Errorf("%d pairs are equal, %d differ", equal, different)
	}
}

// over returns an overlay, or the mag below if there is nothing above.
func over(below, above *fake) volume.Mag {
	if above == nil {
		return below
	}
	return overlay.NewMag(below, above)
}

// TestDiffReadsLittle: nothing is read of what versions or absence prove to be equal.
func TestDiffReadsLittle(t *testing.T) {
	const blocks = 64 // of a cube of the layer
	grid := volume.Grid{Type: volume.Uint8, Channels: 1, Block: volume.Cube(32), Size: volume.Cube(128)}
	layer := func() *fake {
		m := &fake{grid: grid, bounds: volume.Box{Max: volume.Cube(500)}, ages: map[volume.Vec]int{}}
		for c := range (volume.Box{Max: volume.Cube(3)}).All() {
			m.ages[c] = 1
		}
		return m
	}
	a, b := layer(), layer()
	check := func(name string, other volume.Mag, boxes int, most int64) {
		t.Helper()
		a.filled.Store(0)
		found, faults, _ := compare(t, a, other, usual)
		if n := a.filled.Load(); len(found) != boxes || len(faults) > 0 || n > most {
			t.Errorf("%s: got %v and %v, want %d boxes; %d blocks were decoded, want at most %d", name, found, faults,
				boxes, n, most)
		}
	}
	check("the same versions", b, 0, 0)
	check("itself", a, 0, 0)
	b.ages[volume.Vec{1, 1, 1}] = 2
	check("one cube has changed", b, 1, blocks)
	delete(b.ages, volume.Vec{1, 1, 1})
	check("one cube is absent", b, 1, blocks)

	above := &fake{grid: grid, bounds: a.bounds, ages: map[volume.Vec]int{{3, 3, 3}: 2, {1, 4, 4}: 2, {9, 0, 0}: 2}}
	above.grid.Size = above.grid.Block
	// A block of A is decoded for A, and for what B has below the block that replaces it: at most twice.
	check("three blocks of an annotation", overlay.NewMag(a, above), 3, 6)
	above.ages = map[volume.Vec]int{}
	check("an annotation without blocks", overlay.NewMag(a, above), 0, 0)
}

// TestDiffFaults: a box that cannot be read is a fault, on either side. All others are compared.
func TestDiffFaults(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		bounds := box(r)
		a, b := random(r, bounds, 2), random(r, bounds, 2)
		broken, side := a, "in A: "
		if seed%2 == 1 {
			broken, side = b, "in B: "
		}
		broken.bad = map[volume.Vec]bool{}
		for c := range broken.ages {
			broken.bad[c] = r.IntN(5) == 0
		}
		l := limits{unit: 1 + r.IntN(4), unitMost: 64, run: 1 + r.IntN(1000), cell: 1 + r.IntN(4), cells: 1000}
		found, faults, _ := compare(t, a, b, l)
		lost, seen := map[volume.Vec]bool{}, map[volume.Vec]bool{}
		for _, f := range faults {
			if !errors.Is(f.Err, errBad) || !strings.HasPrefix(f.Err.Error(), side) {
				t.Errorf("seed %d: got %v", seed, f.Err)
			}
			for v := range f.Box.All() {
				lost[v] = true
			}
		}
		for _, d := range found {
			for v := range d.Box.All() {
				seen[v] = true
			}
		}
		for v := range bounds.All() {
			c := v.Sub(broken.grid.Origin).Div(broken.grid.Size)
			switch {
			case broken.bad[c] && !lost[v]:
				t.Fatalf("seed %d: %v is in a bad cube, and no fault has it", seed, v)
			case !lost[v] && !seen[v] && at(v, a, nil) != at(v, b, nil):
				t.Fatalf("seed %d: %v differs, and nothing says so", seed, v)
			}
		}
	}
}

// TestDiffRefused: mags that cannot be compared are errors, and so is a context that is done.
func TestDiffRefused(t *testing.T) {
	blocks := cache.New(1 << 20)
	defer blocks.Close()
	r := rand.New(rand.NewPCG(1, 1))
	a, b := random(r, volume.Box{Max: volume.Cube(30)}, 1), random(r, volume.Box{Max: volume.Cube(30)}, 1)
	o := Options{Cache: blocks, Jobs: 1, Found: func(Difference) {}, Failed: func(Fault) {}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Mags(ctx, a, b, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	huge := volume.Box{Min: volume.Vec{1, 1, 1}, Max: volume.Cube(1 << 40)} // of metadata that lie
	a.bounds, b.bounds = huge, huge
	small := limits{unit: 4, unitMost: 1 << 20, run: 1 << 20, cell: 4, cells: 1000, stored: 10000}
	if _, err := mags(t.Context(), a, b, o, small); err != nil {
		t.Errorf("a huge box: %v", err)
	}
	a.grid.Size, a.grid.Block = volume.Cube(1<<19), volume.Cube(1<<5)
	if _, err := mags(t.Context(), a, b, o, small); err == nil || !strings.Contains(err.Error(), "expected at most") {
		t.Errorf("huge cubes: got %v", err)
	}
	b.grid.Type = volume.Uint16
	want := "expected voxels of one type, found 1 × uint8 in A and 1 × uint16 in B"
	if _, err := Mags(t.Context(), a, b, o); fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
