package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// bench is a run of the benchmark.
type bench struct {
	dir      string // directory of the data
	refdata  string // directory of datasets that other programs wrote; it may be missing
	program  string // the wkwfs that is measured
	before   string // another wkwfs, measured in the same rounds; empty: none
	cache    int    // memory for decoded blocks in MiB
	rounds   int
	only     *regexp.Regexp // matches the jobs to run
	sizes    sizes
	json     string // file for all figures; empty: none
	pictures string // directory for pictures; empty: none
	from     string // report to draw instead of measuring; empty: measure
	progress func(format string, args ...any)

	notes    []string            // text above the table
	skipped  error               // why the jobs of R and Q did not run; nil if they ran
	datasets map[string]*dataset // by name
	s3Server s3Server            // is started when it is needed
	memory   []byte              // see buffer
}

// run runs the jobs that were selected. If one fails, it returns the outcomes so far and the error.
func (b *bench) run(ctx context.Context) (done []outcome, err error) {
	b.datasets = map[string]*dataset{}
	if err := errors.Join(os.MkdirAll(b.dir, 0o777), os.RemoveAll(b.diskCache())); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.s3Server.close()) }()
	for _, j := range b.jobs() {
		if !b.only.MatchString(j.name) {
			continue
		}
		if j.task.cold && os.Geteuid() != 0 {
			b.progress("%s is skipped: it needs root", j.name)
			continue
		}
		d, err := b.data(ctx, j.data)
		if errors.Is(err, errNoReference) {
			b.skipped = fmt.Errorf("jobs of R and Q are skipped: %w", err)
			continue
		}
		if err != nil {
			return done, fmt.Errorf("%s: %w", j.name, err)
		}
		o, err := j.run(ctx, d, j.among(b, d), b.rounds, func() error { return warmMemory(b.sizes.warm) }, b.progress)
		if err != nil {
			return done, err
		}
		done = append(done, o)
	}
	return append(done, memoryRow(done)...), nil
}

// diskCache returns the directory of the disk cache of wkwfs. It has what one run has read.
func (b *bench) diskCache() string { return filepath.Join(b.dir, "disk-cache") }

// findProgram returns the absolute path of a program.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w (make build builds wkwfs)", err)
	}
	return filepath.Abs(path)
}

// allowance is the memory in MiB that a server may use beyond the budget of its cache.
const allowance = 128

// memoryRow returns the largest memory beyond the cache that a measured wkwfs used in any job. It returns no outcome if
// none was measured.
func memoryRow(done []outcome) []outcome {
	var all []outcome
	for _, o := range done {
		for _, c := range o.Contenders {
			for _, t := range c.Turns {
				over := float64(t.Peak-t.budget) / (1 << 20)
				if t.budget == 0 || len(all) > 0 && over <= all[0].Contenders[0].Turns[0].Values[0] {
					continue
				}
				most := contender{Name: c.Name + ", " + o.Work, Turns: []turn{{Values: []float64{over}, Peak: t.Peak}}}
				name, bounds := "memory beyond the cache, in all jobs", one("MiB", atMost(allowance, ""))
				all = []outcome{{name, []string{"MiB"}, []contender{most}, bounds}}
			}
		}
	}
	return all
}
