package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// job is a task that several contenders do in the same way.
type job struct {
	name       string
	figures    []figure                                   // what is measured
	setup      func(context.Context) ([]contender, error) // makes the data and the contenders
	contenders []contender
	once       bool // there is one round only: the figures do not depend on time
}

// figure is a measured value and its bounds. All ratios and differences compare the first contender with
// another one.
type figure struct {
	unit   string
	bounds []bound
}

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

// contender is one way to do a job.
type contender struct {
	name   string
	absent string // why it is not available; empty: it is available
	older  bool   // it may lack what the job needs: if its first turn fails, it is not available
	turn   func(context.Context) (turn, error)
}

// turn is the result of one contender in one round.
type turn struct {
	values []float64 // one for each figure of the job; 0: the contender does not have the figure
	sum    uint32    // CRC of the bytes read; 0: they were verified before the rounds
	bytes  int64     // bytes read, for CPU time per GiB; 0: that is not shown
	cpu    float64   // CPU seconds of server and reader
	peak   int64     // largest resident memory of the server in bytes; 0: there is no server
	budget int64     // budget of the server's cache in bytes; only of the measured wkwfs
}

// outcome is the result of a job: one turn for each contender and round. Contenders that are absent have no
// turns.
type outcome struct {
	job
	turns [][]turn
}

// run gives each contender a turn in each round, and calls prepare before it. Every second round has the reverse order.
func (j job) run(ctx context.Context, rounds int, prepare func() error, progress func(string, ...any)) (outcome, error) {
	o := outcome{j, make([][]turn, len(j.contenders))}
	if j.once {
		rounds = 1
	}
	for round := range rounds {
		var sum uint32
		for _, i := range order(len(j.contenders), round) {
			c := j.contenders[i]
			if c.absent != "" {
				continue
			}
			if err := prepare(); err != nil {
				return o, err
			}
			t, err := c.turn(ctx)
			if err != nil && c.older && len(o.turns[i]) == 0 && ctx.Err() == nil {
				o.contenders[i].absent = oneLine(err)
				progress("%s: %s is not here: %v", j.name, c.name, err)
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

// oneLine returns the text of an error for a cell of the table.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

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

// compares reports whether a figure has a bound against the named contender.
func (j job) compares(name string) bool {
	for _, f := range j.figures {
		if slices.ContainsFunc(f.bounds, func(b bound) bool { return b.against == name }) {
			return true
		}
	}
	return false
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
