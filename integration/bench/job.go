package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// job is a task that several contenders do with the same voxels.
type job struct {
	name    string
	data    string // the name of its dataset
	task    task
	among   func(b *bench, d *dataset) []contender // the first one is compared with the others
	figures []figure
}

// task is the work of those contenders of a job that have none of their own.
type task struct {
	do    work
	whole bool // it reads a whole file: its bytes are compared before the rounds
	cold  bool // the page cache has nothing; otherwise it has the compressed files
}

var (
	ddWhole = task{do: dd, whole: true}
	ddCold  = task{do: dd, cold: true}
)

// figure is a measured value and its bounds. All ratios compare the first contender with another one.
type figure struct {
	unit   string
	bounds []bound
}

// one returns the only figure of a job.
func one(unit string, bounds ...bound) []figure { return []figure{{unit, bounds}} }

// bound is a limit of a ratio.
type bound struct {
	against string // the contender that the first is compared with; empty: the limit is of the first's own value
	limit   float64
	maximum bool // whether the limit is a maximum; otherwise a minimum
}

// atLeast returns a minimum of the ratio to another contender, atMost a maximum.
func atLeast(limit float64, against string) bound { return bound{against, limit, false} }
func atMost(limit float64, against string) bound  { return bound{against, limit, true} }

// outcome is the result of a job: one turn for each contender and round.
type outcome struct {
	Work       string      `json:"work"`
	Units      []string    `json:"units"` // one for each figure
	Contenders []contender `json:"contenders"`
	figures    []figure
}

// turn is the result of one contender in one round.
type turn struct {
	Values []float64 `json:"values"`          // one for each figure of the job
	CPU    float64   `json:"cpu_seconds"`     // of server and reader
	Bytes  int64     `json:"bytes,omitempty"` // read, for CPU time per GiB; 0: that is not shown
	// largest resident memory of the server; 0: there is no server
	Peak   int64  `json:"server_peak_bytes,omitempty"`
	budget int64  // bytes for the server's cache; only of the measured wkwfs
	sum    uint32 // CRC of the bytes read; 0: they were compared before the rounds
}

// run gives each contender a turn in each round, and calls prepare before it. Every second round has the reverse order.
func (j job) run(ctx context.Context, d *dataset, all []contender, rounds int, prepare func() error,
	progress func(string, ...any)) (outcome, error) {
	o := outcome{Work: j.name, Contenders: all, figures: j.figures}
	for _, f := range j.figures {
		o.Units = append(o.Units, f.unit)
	}
	if j.task.whole {
		progress("%s: comparing the bytes of all contenders", j.name)
		if err := compareWhole(ctx, d, all); err != nil {
			return o, fmt.Errorf("%s: %w", j.name, err)
		}
	}
	for round := range rounds {
		var sum uint32
		for i := range all {
			c := &all[i]
			if round%2 == 1 {
				c = &all[len(all)-1-i]
			}
			if c.Absent != "" {
				continue
			}
			if err := prepare(); err != nil {
				return o, err
			}
			t, err := c.turn(ctx, j.task, d)
			if c.lacks(ctx, err) {
				progress("%s: %s is not here: %s", j.name, c.Name, c.Absent)
				continue
			}
			if err == nil && sum != 0 && t.sum != 0 && t.sum != sum {
				err = errors.New("the bytes that were read differ from those of other contenders")
			}
			if err = errors.Join(err, ctx.Err()); err != nil {
				return o, fmt.Errorf("%s: %s: %w", j.name, c.Name, err)
			}
			sum = max(sum, t.sum)
			c.Turns = append(c.Turns, t)
			progress("%s, round %d: %s: %.4g", j.name, round+1, c.Name, t.Values)
		}
	}
	return o, nil
}

// compareWhole compares the whole files that contenders read with the plain file, so that none is fast because it is
// wrong.
func compareWhole(ctx context.Context, d *dataset, all []contender) error {
	for i := range all {
		c := &all[i]
		if c.Absent != "" || c.do != nil {
			continue
		}
		t, err := c.turn(ctx, task{do: sumWhole}, d)
		if c.lacks(ctx, err) {
			continue
		}
		if err == nil && t.sum != d.sum {
			err = fmt.Errorf("expected the voxels of %s, with the CRC %08x; found %08x", d.flat, d.sum, t.sum)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// lacks reports whether a contender that may lack something has failed before it had a turn, or needs a library that is
// missing. Then it is absent.
func (c *contender) lacks(ctx context.Context, err error) bool {
	missing := c.mayLack || errors.Is(err, errMissing)
	if err == nil || !missing || len(c.Turns) > 0 || ctx.Err() != nil {
		return false
	}
	text := err.Error()
	if errors.Is(err, errMissing) {
		text = text[strings.Index(text, errMissing.Error()):] // without what cannot be made
	}
	c.Absent = strings.Join(strings.Fields(text), " ") // one line, for a cell of the table
	return true
}

// values returns a figure of a contender in all rounds.
func (c contender) values(figure int) []float64 {
	var values []float64
	for _, t := range c.Turns {
		values = append(values, t.Values[figure])
	}
	return values
}

// ratio returns the median over the rounds of the ratio of the first contender's figure to another's.
func (o outcome) ratio(contender, figure int) float64 {
	first, other := o.Contenders[0].values(figure), o.Contenders[contender].values(figure)
	ratios := make([]float64, min(len(first), len(other)))
	for i := range ratios {
		ratios[i] = first[i] / other[i]
	}
	return median(ratios)
}

// median returns the median, or 0 if there are no values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	values = slices.Sorted(slices.Values(values))
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
