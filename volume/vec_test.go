package volume

import (
	"slices"
	"testing"
)

func TestDivision(t *testing.T) {
	for _, c := range []struct{ n, d, floor, ceil int }{
		{0, 1, 0, 0}, {0, 5, 0, 0},
		{4, 5, 0, 1}, {5, 5, 1, 1}, {6, 5, 1, 2},
		{-1, 5, -1, 0}, {-4, 5, -1, 0}, {-5, 5, -1, -1}, {-6, 5, -2, -1},
		{7, 1, 7, 7}, {-7, 1, -7, -7},
		{1<<63 - 1, 2, 1<<62 - 1, 1 << 62}, {-1 << 62, 3, -1537228672809129302, -1537228672809129301},
	} {
		// The other axes show that each axis has its own divisor.
		v, w := Vec{c.n, 10, -10}, Vec{c.d, 3, 3}
		if got, want := v.Div(w), (Vec{c.floor, 3, -4}); got != want {
			t.Errorf("%v / %v: got %v, expected %v", v, w, got, want)
		}
		if got, want := v.CeilDiv(w), (Vec{c.ceil, 4, -3}); got != want {
			t.Errorf("%v / %v up: got %v, expected %v", v, w, got, want)
		}
	}
}

func TestVec(t *testing.T) {
	v, w := Vec{1, 20, -3}, Vec{5, 2, 7}
	for _, c := range []struct {
		name      string
		got, want Vec
	}{
		{"Cube", Cube(4), Vec{4, 4, 4}},
		{"Add", v.Add(w), Vec{6, 22, 4}},
		{"Sub", v.Sub(w), Vec{-4, 18, -10}},
		{"Mul", v.Mul(w), Vec{5, 40, -21}},
		{"Min", v.Min(w), Vec{1, 2, -3}},
		{"Max", v.Max(w), Vec{5, 20, 7}},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, expected %v", c.name, c.got, c.want)
		}
	}
	if got := v.String(); got != "1,20,-3" {
		t.Errorf("got %s", got)
	}
}

func TestVecIn(t *testing.T) {
	size := Vec{2, 3, 4}
	for _, c := range []struct {
		v    Vec
		want bool
	}{
		{Vec{0, 0, 0}, true}, {Vec{1, 2, 3}, true},
		{Vec{2, 2, 3}, false}, {Vec{1, 3, 3}, false}, {Vec{1, 2, 4}, false},
		{Vec{-1, 0, 0}, false}, {Vec{0, -1, 0}, false}, {Vec{0, 0, -1}, false},
	} {
		if got := c.v.In(size); got != c.want {
			t.Errorf("%v in %v: got %v", c.v, size, got)
		}
	}
}

// TestIndex shows that All yields positions in the order of Index.
func TestIndex(t *testing.T) {
	size := Vec{3, 4, 5}
	n := 0
	for v := range (Box{Max: size}).All() {
		if v.Index(size) != n {
			t.Fatalf("%v: got %d, expected %d", v, v.Index(size), n)
		}
		n++
	}
	if n != 60 {
		t.Errorf("got %d positions", n)
	}
}

func TestBox(t *testing.T) {
	box := func(x0, y0, z0, x1, y1, z1 int) Box { return Box{Vec{x0, y0, z0}, Vec{x1, y1, z1}} }
	a := box(0, 0, 0, 10, 10, 10)
	for _, c := range []struct {
		b, intersect, union Box
		empty, disjoint     bool
	}{
		{b: a, intersect: a, union: a},
		{b: box(5, -5, 9, 15, 5, 20), intersect: box(5, 0, 9, 10, 5, 10), union: box(0, -5, 0, 15, 10, 20)},
		{b: box(2, 3, 4, 5, 6, 7), intersect: box(2, 3, 4, 5, 6, 7), union: a},
		{b: box(10, 0, 0, 20, 10, 10), intersect: box(10, 0, 0, 10, 10, 10), union: box(0, 0, 0, 20, 10, 10),
			disjoint: true},
		{b: box(5, 5, 5, 5, 6, 6), intersect: box(5, 5, 5, 5, 6, 6), union: a, empty: true, disjoint: true},
		{b: box(50, 5, 5, 40, 6, 6), intersect: box(50, 5, 5, 10, 6, 6), union: a, empty: true, disjoint: true},
		{b: Box{}, intersect: Box{}, union: a, empty: true, disjoint: true},
	} {
		if c.b.Empty() != c.empty {
			t.Errorf("%v: empty is %v", c.b, c.b.Empty())
		}
		if got := a.Intersect(c.b); got != c.intersect || got != c.b.Intersect(a) || got.Empty() != c.disjoint {
			t.Errorf("%v: intersection is %v, expected %v", c.b, got, c.intersect)
		}
		if got := a.Union(c.b); got != c.union || got != c.b.Union(a) {
			t.Errorf("%v: union is %v, expected %v", c.b, got, c.union)
		}
	}
	if got := box(-5, 0, 7, 15, 64, 8); got.Size() != (Vec{20, 64, 1}) || got.String() != "-5-15_0-64_7-8" {
		t.Errorf("got %v, %v", got.Size(), got)
	}
}

func TestBoxAll(t *testing.T) {
	b := Box{Vec{-1, 5, 2}, Vec{1, 6, 4}}
	want := []Vec{{-1, 5, 2}, {0, 5, 2}, {-1, 5, 3}, {0, 5, 3}}
	if got := slices.Collect(b.All()); !slices.Equal(got, want) {
		t.Errorf("got %v, expected %v", got, want)
	}
	for range b.All() {
		break // must not panic
	}
	if got := slices.Collect((Box{Vec{0, 0, 0}, Vec{5, 0, 5}}).All()); got != nil {
		t.Errorf("empty box: got %v", got)
	}
}

// TestBoxOfCells compares boxes of cells with the positions that they hold.
func TestBoxOfCells(t *testing.T) {
	cell := Vec{3, 1, 4}
	for _, b := range []Box{{Vec{0, 0, 0}, Vec{3, 1, 4}}, {Vec{-4, -1, -1}, Vec{4, 2, 5}}, {Vec{2, 5, 8}, Vec{3, 7, 9}},
		{Vec{-3, 0, 3}, Vec{0, 1, 5}}} {
		cells := b.Div(cell)
		for c := range (Box{cells.Min.Sub(Cube(1)), cells.Max.Add(Cube(1))}).All() {
			overlaps := false
			for v := range c.BoxOfOne().Mul(cell).All() {
				overlaps = overlaps || b.Contains(v)
			}
			if overlaps != cells.Contains(c) {
				t.Errorf("%v: cell %v overlaps is %v, expected %v", b, c, cells.Contains(c), overlaps)
			}
		}
		if whole := cells.Mul(cell); whole.Intersect(b) != b || whole.Div(cell) != cells {
			t.Errorf("%v: cells %v hold %v", b, cells, whole)
		}
	}
}

func TestBoxMoved(t *testing.T) {
	b, by := Box{Vec{-1, 5, 2}, Vec{1, 6, 4}}, Vec{10, -5, 1}
	if got, want := b.Add(by), (Box{Vec{9, 0, 3}, Vec{11, 1, 5}}); got != want || got.Sub(by) != b {
		t.Errorf("got %v, expected %v", got, want)
	}
	if b.Contains(Vec{1, 5, 2}) || b.Contains(Vec{-1, 4, 2}) ||
		!slices.Equal(slices.Collect(Vec{1, 2, 3}.BoxOfOne().All()), []Vec{{1, 2, 3}}) {
		t.Error("a box contains positions outside of it")
	}
}
