package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// job is work that several contenders do with the same voxels.
type job struct {
	name    string
	data    string                                 // the name of its dataset
	do      work                                   // what a contender does that has no work of its own
	whole   bool                                   // the work reads a whole file: its bytes are compared before the rounds
	cold    bool                                   // the page cache has nothing; otherwise it has the compressed files
	among   func(b *bench, d *dataset) []contender // the first one is compared with the others
	figures []figure                               // what is measured
}

// figure is a measured value and its bounds. All ratios and differences compare the first contender with another one.
type figure struct {
	unit   string
	bounds []bound
}

// one returns the only figure of a job.
func one(unit string, bounds ...bound) []figure { return []figure{{unit, bounds}} }

// bound is a limit of a figure.
type bound struct {
	against string // the contender that the first is compared with; empty: the limit is of the first's own value
	limit   float64
	maximum bool    // whether the limit is a maximum; otherwise a minimum
	delay   float64 // not 0: the limit is of the difference, divided by this delay, which has the figure's unit
}

// atLeast returns a minimum of the ratio to another contender.
func atLeast(limit float64, against string) bound { return bound{against: against, limit: limit} }

// atMost returns a maximum of the ratio to another contender.
func atMost(limit float64, against string) bound {
	return bound{against: against, limit: limit, maximum: true}
}

// atMostDelays returns a maximum of the difference to another contender, in delays.
func atMostDelays(limit, delay float64, against string) bound {
	return bound{against: against, limit: limit, maximum: true, delay: delay}
}

// turn is the result of one contender in one round.
type turn struct {
	values []float64 // one for each figure of the job; 0: the contender does not have the figure
	sum    uint32    // CRC of the bytes read; 0: they were compared before the rounds
	bytes  int64     // bytes read, for CPU time per GiB; 0: that is not shown
	cpu    float64   // CPU seconds of server and reader
	peak   int64     // largest resident memory of the server in bytes; 0: there is no server
	budget int64     // budget of the server's cache in bytes; only of the measured wkwfs
}

// outcome is the result of a job: one turn for each contender and round. Contenders that are absent have no turns.
type outcome struct {
	job
	contenders []contender
	turns      [][]turn
}

// run gives each contender a turn in each round, and calls prepare before it. Every second round has the reverse order.
func (j job) run(ctx context.Context, d *dataset, contenders []contender, rounds int, prepare func() error, progress func(string, ...any)) (outcome, error) {
	o := outcome{j, contenders, make([][]turn, len(contenders))}
	if err := o.compare(ctx, d, progress); err != nil {
		return o, fmt.Errorf("%s: %w", j.name, err)
	}
	for round := range rounds {
		var sum uint32
		for _, i := range order(len(contenders), round) {
			c := &contenders[i]
			if c.absent != "" {
				continue
			}
			if err := prepare(); err != nil {
				return o, err
			}
			t, err := c.turn(ctx, j, d)
			if c.lacks(ctx, err, len(o.turns[i])) {
				progress("%s: %s is not here: %s", j.name, c.name, c.absent)
				continue
			}
			if err = errors.Join(err, ctx.Err()); err != nil {
				return o, fmt.Errorf("%s: %s: %w", j.name, c.name, err)
			}
			if sum != 0 && t.sum != 0 && t.sum != sum {
				return o, fmt.Errorf("%s: the bytes that %s read differ from those of other contenders", j.name, c.name)
			}
			sum = max(sum, t.sum)
			o.turns[i] = append(o.turns[i], t)
			progress("%s, round %d: %s: %.4g", j.name, round+1, c.name, t.values)
		}
	}
	return o, nil
}

// compare compares the whole files that contenders read with the plain file, so that none is fast because it is wrong.
func (o outcome) compare(ctx context.Context, d *dataset, progress func(string, ...any)) error {
	if !o.whole {
		return nil
	}
	progress("%s: comparing the bytes of all contenders", o.name)
	for i := range o.contenders {
		c := &o.contenders[i]
		if c.absent != "" || c.do != nil {
			continue
		}
		t, err := c.turn(ctx, job{do: sumWhole}, d)
		if c.lacks(ctx, err, 0) {
			continue
		}
		if err == nil && t.sum != d.sum {
			err = fmt.Errorf("expected the voxels of %s, with the CRC %08x; found %08x", d.flat, d.sum, t.sum)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// lacks reports whether a contender that may lack something has failed before it had a turn. Then it is absent.
func (c *contender) lacks(ctx context.Context, err error, turns int) bool {
	if err == nil || !c.mayLack || turns > 0 || ctx.Err() != nil {
		return false
	}
	c.absent = strings.Join(strings.Fields(err.Error()), " ") // one line, for a cell of the table
	return true
}

// order returns the order of n contenders in a round.
func order(n, round int) []int {
	indexes := make([]int, n)
	for i := range indexes {
		indexes[i] = i
	}
	if round%2 == 1 {
		slices.Reverse(indexes)
	}
	return indexes
}

// values returns a figure of one contender in all rounds.
func (o outcome) values(contender, figure int) []float64 {
	var values []float64
	for _, t := range o.turns[contender] {
		values = append(values, t.values[figure])
	}
	return values
}

// comparison returns the median over the rounds of the ratio of the first contender's figure to another's, with
// unit "×". If the bound is in delays, it returns their difference, with unit "delays".
func (o outcome) comparison(contender, figure int) (value float64, unit string) {
	b, _ := o.figures[figure].bound(o.contenders[contender].name)
	first, other := o.values(0, figure), o.values(contender, figure)
	rounds := make([]float64, min(len(first), len(other)))
	for i := range rounds {
		if b.delay != 0 {
			rounds[i] = (first[i] - other[i]) / b.delay
		} else {
			rounds[i] = first[i] / other[i]
		}
	}
	if b.delay != 0 {
		return median(rounds), "delays"
	}
	return median(rounds), "×"
}

// bound returns the bound against a contender, if there is one.
func (f figure) bound(against string) (bound, bool) {
	i := slices.IndexFunc(f.bounds, func(b bound) bool { return b.against == against })
	if i < 0 {
		return bound{}, false
	}
	return f.bounds[i], true
}

// median returns the median, or 0 if there are no values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	values = slices.Sorted(slices.Values(values))
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
