package lattice

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// line is a lattice of chunks on x.
func line(t *testing.T, n int) Lattice {
	t.Helper()
	l, err := New(volume.Vec{n, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// collect collects the first n chunks of a line, each of them times times.
func collect(t *testing.T, b *Budget, limit, n, times int) (Positions, error) {
	t.Helper()
	c := b.Collect(line(t, 1<<20), limit)
	for range times {
		for x := range n {
			if err := c.Add(volume.Vec{x}); err != nil {
				return Positions{}, err
			}
		}
	}
	p := c.Positions()
	if len(p.sorted) != n || !slices.IsSorted(p.sorted) {
		t.Errorf("%d positions, expected %d", len(p.sorted), n)
	}
	return p, nil
}

// TestBudget: all sets together have as many positions as the budget. A small set is always made. What is dropped or
// refused is given back, and then a refused set is made.
func TestBudget(t *testing.T) {
	const all = 8 * free
	b := NewBudget(all)
	first, err := collect(t, b, MaxPositions, 5*free, 1)
	if err != nil {
		t.Fatal(err)
	}
	if left := b.left.Load(); left != 4*free {
		t.Errorf("%d positions are left", left)
	}
	_, refused := collect(t, b, MaxPositions, 6*free, 1)
	if !IsTooMany(refused) || HasPassed(refused) || b.left.Load() != 4*free {
		t.Errorf("got %v, passed %t, and %d positions are left", refused, HasPassed(refused), b.left.Load())
	}
	second, err := collect(t, b, MaxPositions, 5*free, 1)
	if err != nil || b.left.Load() != 0 {
		t.Fatal(err, b.left.Load())
	}
	small, err := collect(t, b, MaxPositions, free, 1)
	if err != nil || !small.Contains(volume.Vec{free - 1}) {
		t.Error("a small set is refused:", err)
	}
	if _, err := collect(t, b, MaxPositions, free+1, 1); !IsTooMany(err) {
		t.Errorf("got %v", err)
	}
	for range 2 { // the second time does nothing
		first.Release()
		second.Release()
		small.Release()
	}
	if left := b.left.Load(); left != all {
		t.Errorf("%d positions are left, expected %d", left, all)
	}
	if !first.Contains(volume.Vec{5*free - 1}) {
		t.Error("a released set lost a chunk of those who use it")
	}
	if !HasPassed(refused) {
		t.Error("nobody tries again what was refused because of others")
	}
	if _, err := collect(t, b, MaxPositions, 6*free, 1); err != nil {
		t.Error(err)
	}
}

// TestLimitOfSet: a set that is too large alone gives everything back, and is refused as long as it is.
func TestLimitOfSet(t *testing.T) {
	b := NewBudget(8 * free)
	_, err := collect(t, b, 2*free, 2*free+1, 1)
	if !IsTooMany(err) || HasPassed(err) || b.left.Load() != 8*free || err.Error() != "more than 2048 chunks" {
		t.Errorf("got %v, passed %t, and %d positions are left", err, HasPassed(err), b.left.Load())
	}
}

// TestChunksAddedTwice: chunks that are added several times count once.
func TestChunksAddedTwice(t *testing.T) {
	b := NewBudget(4 * free)
	for _, limit := range []int{MaxPositions, 4 * free} {
		p, err := collect(t, b, limit, 3*free, 20)
		if err != nil {
			t.Fatal(err)
		}
		if left := b.left.Load(); left > 2*free || left < 0 {
			t.Errorf("%d positions are left", left)
		}
		p.Release()
		if left := b.left.Load(); left != 4*free {
			t.Errorf("%d positions are left", left)
		}
	}
	c := b.Collect(line(t, 1), MaxPositions)
	for range 100 * free {
		if err := c.Add(volume.Vec{}); err != nil {
			t.Fatal(err)
		}
	}
	if c.Positions(); b.left.Load() != 4*free {
		t.Errorf("one chunk takes %d positions", 4*free-b.left.Load())
	}
}

// TestForgottenPositions: a set that nobody refers to gives its part back without Release.
func TestForgottenPositions(t *testing.T) {
	b := NewBudget(8 * free)
	if _, err := collect(t, b, MaxPositions, 6*free, 1); err != nil {
		t.Fatal(err)
	}
	for b.left.Load() != 8*free { // the test ends by its timeout
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// TestDrop: a collector that ends early gives its part back.
func TestDrop(t *testing.T) {
	b := NewBudget(8 * free)
	c := b.Collect(line(t, 1<<20), MaxPositions)
	for x := range 4 * free {
		if err := c.Add(volume.Vec{x}); err != nil {
			t.Fatal(err)
		}
	}
	if c.Drop(); b.left.Load() != 8*free {
		t.Errorf("%d positions are left", b.left.Load())
	}
}
