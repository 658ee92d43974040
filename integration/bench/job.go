package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// job is something to be done, in the same way, by several contenders.
type job struct {
	name       string
	figures    []figure                                   // what is measured
	setup      func(context.Context) ([]contender, error) // makes what they need, and them
	contenders []contender
}

// figure is something that is measured, and what it has to be. All ratios are of the
// first contender to another one, and so are differences.
type figure struct {
	unit   string
	bounds []bound
}

// bound is how large a figure has to be, or may be at most.
type bound struct {
	against string // the contender that the first is divided by; empty: the first alone
	limit   float64
	most    bool
	delay   float64 // not 0: the limit is of the difference, in delays of this many of the figure's units
}

func atLeast(limit float64, against string) bound { return bound{against: against, limit: limit} }
func atMost(limit float64, against string) bound {
	return bound{against: against, limit: limit, most: true}
}

// atMostDelays bounds how many delays the first contender takes longer than another one.
func atMostDelays(limit, delay float64, against string) bound {
	return bound{against: against, limit: limit, most: true, delay: delay}
}

// contender is one way to do a job.
type contender struct {
	name   string
	absent string // why it is not here; empty if it is
	turn   func(context.Context) (turn, error)
}

// turn is what came of one contender's turn in one round.
type turn struct {
	values []float64 // one for each figure of the job; 0 where the contender has no such figure
	sum    uint32    // CRC of what was read, which must be that of all others; 0 where that was verified before
	bytes  int64     // that CPU time is to be divided by; 0 where it says nothing
	cpu    float64   // seconds of server and reader
	peak   int64     // bytes that the server had in memory at most; 0 if there is none
	budget int64     // bytes that its cache may take, if it is the wkwfs that is measured
}

// outcome is what came of a job: a turn for each contender and round; none for those
// that are absent.
type outcome struct {
	job
	turns [][]turn
}

// run gives everybody a turn in each round, forwards and backwards by turns.
func (j job) run(ctx context.Context, rounds int, say func(string, ...any)) (outcome, error) {
	o := outcome{j, make([][]turn, len(j.contenders))}
	for round := range rounds {
		var sum uint32
		for _, i := range order(len(j.contenders), round) {
			c := j.contenders[i]
			if c.absent != "" {
				continue
			}
			t, err := c.turn(ctx)
			if err = errors.Join(err, ctx.Err()); err != nil {
				return o, fmt.Errorf("%s: %s: %w", j.name, c.name, err)
			}
			if sum != 0 && t.sum != 0 && t.sum != sum {
				return o, fmt.Errorf("%s: %s read other bytes than the others", j.name, c.name)
			}
			sum = max(sum, t.sum)
			o.turns[i] = append(o.turns[i], t)
			say("%s, round %d: %s: %.4g", j.name, round+1, c.name, t.values)
		}
	}
	return o, nil
}

// order is that in which n contenders have their turns.
func order(n, round int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	if round%2 == 1 {
		slices.Reverse(all)
	}
	return all
}

// compares reports whether a bound is against the named contender.
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
	var all []float64
	for _, t := range o.turns[contender] {
		all = append(all, t.values[figure])
	}
	return all
}

// beside is the median, over the rounds, of the first contender's figure by another's. Where a bound is in delays, it is
// their difference in delays.
func (o outcome) beside(contender, figure int) (found float64, unit string) {
	b, _ := o.figures[figure].bound(o.contenders[contender].name)
	ours, theirs := o.values(0, figure), o.values(contender, figure)
	all := make([]float64, min(len(ours), len(theirs)))
	for i := range all {
		if b.delay != 0 {
			all[i] = (ours[i] - theirs[i]) / b.delay
		} else {
			all[i] = ours[i] / theirs[i]
		}
	}
	if b.delay != 0 {
		return median(all), "delays"
	}
	return median(all), "×"
}

// bound returns the bound against a contender, if there is one.
func (f figure) bound(against string) (bound, bool) {
	i := slices.IndexFunc(f.bounds, func(b bound) bool { return b.against == against })
	if i < 0 {
		return bound{}, false
	}
	return f.bounds[i], true
}

// median of nothing is 0.
func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
