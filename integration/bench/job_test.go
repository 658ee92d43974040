package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestRatioAndVerdict checks the rows of ratios and their verdicts.
func TestRatioAndVerdict(t *testing.T) {
	o := outcome{
		job: job{
			figures: one("GB/s", atLeast(2, "other"), atMost(1, "third"), atMost(4, "")),
		},
		contenders: []contender{{name: "ours"}, {name: "other"}, {name: "third"}},
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
			figures: one("ms", atMostDelays(3, 5, "not late")),
		},
		contenders: []contender{{name: "late"}, {name: "not late"}, {name: "before"}},
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

// TestMayLack checks that a contender that may lack something and cannot do a job is absent with the reason, that the others have their
// turns, and that all other failures end the job.
func TestMayLack(t *testing.T) {
	works := func(context.Context, reading) (turn, error) { return turn{values: []float64{1}, sum: 1}, nil }
	fails := func(context.Context, reading) (turn, error) { return turn{}, errors.New("no\n ome.zarr/1") }
	turns := 0
	failsLater := func(ctx context.Context, r reading) (turn, error) {
		if turns++; turns > 1 {
			return fails(ctx, r)
		}
		return works(ctx, r)
	}
	for _, test := range []struct {
		name string
		last contender
		want string // error; empty: the last contender is absent
	}{
		{"one that may lack something", contender{name: "last", mayLack: true, do: fails}, ""},
		{"another one", contender{name: "last", do: fails}, "job: last: no"},
		{"one that worked before", contender{name: "last", mayLack: true, do: failsLater}, "job: last: no"},
		{"one with other bytes", contender{name: "last", mayLack: true, do: func(context.Context, reading) (turn, error) {
			return turn{values: []float64{1}, sum: 2}, nil
		}}, "differ"},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := job{name: "job", figures: one("s")}
			all := []contender{{name: "first", do: works}, test.last}
			o, err := j.run(t.Context(), &dataset{}, all, 4, func() error { return nil }, t.Logf)
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v, want %q", err, test.want)
				}
				return
			}
			if err != nil || len(o.turns[0]) != 4 || len(o.turns[1]) != 0 {
				t.Fatalf("turns %d, error %v; want 4 turns of the first", len(o.turns[0]), err)
			}
			if got := o.row(1, 0)[2]; got != "not here: no ome.zarr/1" {
				t.Errorf("the row says %q", got)
			}
		})
	}
}

// TestWrongBytes checks that a contender whose file differs from the plain file is an error.
func TestWrongBytes(t *testing.T) {
	d := tinyE(t)
	j := job{name: "job", do: dd, whole: true, figures: one("GB/s")}
	run := func() error {
		_, err := j.run(t.Context(), d, []contender{d.plain()}, 1, func() error { return nil }, t.Logf)
		return err
	}
	if err := run(); err != nil {
		t.Error(err)
	}
	d.sum++
	if err := run(); err == nil || !strings.Contains(err.Error(), "expected the voxels of "+d.flat) {
		t.Errorf("error %v", err)
	}
}
