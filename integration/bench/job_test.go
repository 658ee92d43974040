package main

import (
	"slices"
	"testing"
)

// TestRatioAndVerdict checks the rows of ratios and their verdicts.
func TestRatioAndVerdict(t *testing.T) {
	o := outcome{
		job: job{
			figures:    []figure{{"GB/s", []bound{atLeast(2, "other"), atMost(1, "third"), atMost(4, "")}}},
			contenders: []contender{{name: "ours"}, {name: "other"}, {name: "third"}},
		},
		turns: [][]turn{
			{{values: []float64{2}}, {values: []float64{4}}, {values: []float64{9}}},
			{{values: []float64{1}}, {values: []float64{1}}, {values: []float64{9}}},
			{{values: []float64{2}}, {values: []float64{2}}, {values: []float64{9}}},
		},
	}
	for i, want := range [][]string{
		{"4", "9", "", "≤ 4", "met"},
		{"1", "9", "2 ×", "≥ 2", "met"}, // the median of 2, 4 and 1
		{"2", "9", "1 ×", "≤ 1", "met"},
	} {
		row := o.row(i, 0)
		if got := []string{row[2], row[3], row[7], row[8], row[9]}; !slices.Equal(got, want) {
			t.Errorf("contender %d: %q, want %q", i, got, want)
		}
	}
	if _, verdict := o.figures[0].verdict("other", 1.99); verdict != "missed" {
		t.Errorf("a ratio below the minimum is %q, want missed", verdict)
	}
}

// TestDelays checks the rows of differences in delays.
func TestDelays(t *testing.T) {
	o := outcome{
		job: job{
			figures:    []figure{{"ms", []bound{atMostDelays(3, 5, "not late")}}},
			contenders: []contender{{name: "late"}, {name: "not late"}, {name: "before"}},
		},
		turns: [][]turn{
			{{values: []float64{20}}, {values: []float64{16}}, {values: []float64{40}}},
			{{values: []float64{5}}, {values: []float64{6}}, {values: []float64{5}}},
			{{values: []float64{40}}, {values: []float64{32}}, {values: []float64{80}}},
		},
	}
	for i, want := range [][]string{
		{"20", "", "", ""},
		{"5", "3 delays", "≤ 3", "met"}, // the median of 3, 2 and 7
		{"40", "0.5 ×", "", ""},
	} {
		row := o.row(i, 0)
		if got := []string{row[2], row[7], row[8], row[9]}; !slices.Equal(got, want) {
			t.Errorf("contender %d: %q, want %q", i, got, want)
		}
	}
}

// TestOrder checks that every second round has the reverse order.
func TestOrder(t *testing.T) {
	if got := [][]int{order(3, 0), order(3, 1)}; !slices.Equal(got[0], []int{0, 1, 2}) || !slices.Equal(got[1], []int{2, 1, 0}) {
		t.Error(got)
	}
}
