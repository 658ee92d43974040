package span

import (
	"math"
	"slices"
	"testing"
)

const most = math.MaxInt64

// bytesOf returns the bytes of a span, one by one.
func bytesOf(s Span) []int64 {
	all := []int64{}
	for i := s.start; i < s.end; i++ {
		all = append(all, i)
	}
	return all
}

// filter returns the numbers for which keep returns true.
func filter(all []int64, keep func(int64) bool) []int64 {
	return slices.DeleteFunc(slices.Clone(all), func(i int64) bool { return !keep(i) })
}

// TestAllSmallSpans compares each method with sets of bytes, for all spans that start at −3 to 8.
func TestAllSmallSpans(t *testing.T) {
	const n = 9
	for start := int64(-3); start < n; start++ {
		for end := int64(-3); end < n; end++ {
			s := New(start, end)
			whole := []int64{}
			for i := max(start, 0); i < end; i++ {
				whole = append(whole, i)
			}
			expect := func(what string, got Span, want []int64) {
				t.Helper()
				if got.start < 0 || got.start > got.end || got.Empty() != (got.Len() == 0) ||
					!slices.Equal(bytesOf(got), want) {
					t.Errorf("[%d,%d) %s: %v, expected %v", start, end, what, got, want)
				}
			}
			expect("New", s, whole)
			expect("Of", Of(start, end-start), whole)
			for k := int64(-3); k < n; k++ {
				if s.Contains(k) != slices.Contains(whole, k) {
					t.Errorf("%v contains %d: %v", s, k, s.Contains(k))
				}
				expect("From", s.From(k), filter(whole, func(i int64) bool { return i >= k }))
				expect("To", s.To(k), filter(whole, func(i int64) bool { return i < k }))
				moved := []int64{}
				for _, i := range whole {
					if i+k >= 0 {
						moved = append(moved, i+k)
					}
				}
				expect("Add", s.Add(k), moved)
				for l := int64(-3); l < n; l++ {
					other := New(k, l)
					expect("Clip", s.Clip(other), filter(whole, other.Contains))
					union := bytesOf(New(min(s.start, other.start), max(s.end, other.end)))
					if s.Empty() || other.Empty() {
						union = append(whole, bytesOf(other)...)
					}
					expect("Union", s.Union(other), union)
				}
			}
			for unit := int64(1); unit < 6; unit++ {
				wholeUnit := func(i int64) bool { return s.Contains(i/unit*unit) && s.Contains(i/unit*unit+unit-1) }
				expect("AlignIn", s.AlignIn(unit), filter(whole, wholeUnit))
				touched := []int64{}
				for i := range int64(3 * n) {
					if len(whole) > 0 && i/unit >= whole[0]/unit && i/unit <= whole[len(whole)-1]/unit {
						touched = append(touched, i)
					}
				}
				expect("AlignOut", s.AlignOut(unit), touched)
				units := slices.Clone(whole)
				for i := range units {
					units[i] /= unit
				}
				expect("Units", s.Units(unit), slices.Compact(units))
				together := []int64{}
				for p := range s.Cut(unit) {
					if p.Empty() || p.start/unit != (p.end-1)/unit {
						t.Errorf("%v in pieces of %d: %v", s, unit, p)
					}
					together = append(together, bytesOf(p)...)
				}
				if !slices.Equal(together, whole) || !s.Piece(-1, unit).Empty() ||
					!s.Piece(s.Pieces(unit), unit).Empty() {
					t.Errorf("%v in pieces of %d: %v", s, unit, together)
				}
			}
			if !s.Empty() {
				expect("Grow", s.Grow(2), bytesOf(New(start-2, end+2)))
			}
		}
	}
}

// TestLargestOffsets checks that nothing overflows.
func TestLargestOffsets(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want Span
	}{
		{"Of", Of(most-1, 5), Span{most - 1, most}},
		{"Of", Of(most, most), Span{most, most}},
		{"Of", Of(math.MinInt64, most), Span{}},
		{"Add", New(5, most).Add(3), Span{8, most}},
		{"Add", New(5, most).Add(math.MinInt64), Span{}},
		{"Add", New(5, most).Add(most), Span{most, most}},
		{"Grow", New(5, most).Grow(most), Span{0, most}},
		{"AlignIn", New(most-2, most).AlignIn(4096), Span{most, most}},
		{"AlignIn", New(1, most).AlignIn(4096), Span{4096, most - 4095}},
		{"AlignOut", New(1, most).AlignOut(4096), Span{0, most}},
		{"AlignOut", New(most-1, most).AlignOut(most), Span{0, most}},
		{"Piece", New(0, most).Piece(1, most-1), Span{most - 1, most}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, expected %v", c.what, c.got, c.want)
		}
	}
	if n := New(0, most).Pieces(1); n != most {
		t.Errorf("%d pieces of a byte", n)
	}
}
