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
		figures: one("GB/s", atLeast(2, "other"), atMost(1, "third"), atMost(4, "")),
		Contenders: []contender{
			{Name: "ours", Turns: []turn{{Values: []float64{2}}, {Values: []float64{1}}, {Values: []float64{2}}}},
			{Name: "other", Turns: []turn{{Values: []float64{1}}, {Values: []float64{1}}, {Values: []float64{1}}}},
			{Name: "third", Turns: []turn{{Values: []float64{2}}, {Values: []float64{8}}, {Values: []float64{1}}}},
		},
	}
	for i, want := range [][]string{
		{"2", "", "≤ 4", "met"},
		{"1", "2 ×", "≥ 2", "met"},
		{"2", "1 ×", "≤ 1", "met"}, // the median of 1, 0.125 and 2
	} {
		row := o.row(i, 0)
		if got := []string{row[2], row[6], row[7], row[8]}; !slices.Equal(got, want) {
			t.Errorf("contender %d: %q, want %q", i, got, want)
		}
	}
	if got := o.figures[0].verdict("other", 1.99); got[1] != "missed" {
		t.Errorf("a ratio below the minimum is %q, want missed", got)
	}
}

// TestOrder checks that every second round has the reverse order.
func TestOrder(t *testing.T) {
	var got []string
	records := func(name string) contender {
		return contender{Name: name, do: func(context.Context, reading) (turn, error) {
			got = append(got, name)
			return turn{Values: []float64{1}}, nil
		}}
	}
	all := []contender{records("a"), records("b"), records("c")}
	_, err := job{}.run(t.Context(), &dataset{}, all, 2, func() error { return nil }, t.Logf)
	if want := "abccba"; err != nil || strings.Join(got, "") != want {
		t.Errorf("order %v, error %v; want %s", got, err, want)
	}
}

// TestMayLack checks that a contender that may lack something and cannot do a job is absent with the reason, that the
// others have their turns, and that all other failures end the job.
func TestMayLack(t *testing.T) {
	works := func(context.Context, reading) (turn, error) { return turn{Values: []float64{1}, sum: 1}, nil }
	fails := func(context.Context, reading) (turn, error) { return turn{}, errors.New("no\n ome.zarr/1") }
	turns := 0
	failsLater := func(ctx context.Context, r reading) (turn, error) {
		if turns++; turns > 1 {
			return fails(ctx, r)
		}
		return works(ctx, r)
	}
	other := func(context.Context, reading) (turn, error) { return turn{Values: []float64{1}, sum: 2}, nil }
	for _, test := range []struct {
		last contender
		want string // error; empty: the last contender is absent
	}{
		{contender{mayLack: true, do: fails}, ""},
		{contender{do: fails}, "job: : no"},
		{contender{mayLack: true, do: failsLater}, "job: : no"},
		{contender{mayLack: true, do: other}, "differ"},
	} {
		j := job{name: "job", figures: one("s")}
		all := []contender{{Name: "first", do: works}, test.last}
		o, err := j.run(t.Context(), &dataset{}, all, 4, func() error { return nil }, t.Logf)
		if test.want != "" {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			continue
		}
		if err != nil || len(all[0].Turns) != 4 || len(all[1].Turns) != 0 {
			t.Fatalf("%v, error %v; want 4 turns of the first", all, err)
		}
		if got := o.row(1, 0)[2]; got != "not here: no ome.zarr/1" {
			t.Errorf("the row says %q", got)
		}
	}
}

// TestWrongBytes checks that a contender whose file differs from the plain file is an error.
func TestWrongBytes(t *testing.T) {
	d := tinyE(t)
	j := job{name: "job", task: ddWhole, figures: one("GB/s")}
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
