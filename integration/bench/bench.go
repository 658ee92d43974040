package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// bench is a run of the benchmark.
type bench struct {
	dir     string // of the data
	refdata string // directory of datasets that other programs wrote; it may be missing
	program string // the wkwfs that is measured
	before  string // another wkwfs, measured in the same rounds; empty if there is none
	cache   int    // MiB for decoded blocks
	rounds  int
	only    *regexp.Regexp // the jobs to do
	sizes   sizes
	say     func(string, ...any) // reports progress

	notes   []string         // text above the table
	leftOut error            // why jobs of R and Q are not in the table; nil if they are
	cubes   map[string]*cube // those that are open
	array   []byte           // see room
}

// jobs returns everything that there is to do.
func (b *bench) jobs() []job {
	return []job{
		b.decoder(),
		b.dd(dataE, decodedCold, atLeast(1, erofsName), atLeast(1.7, squashfsName), atLeast(1.7, squashfuseName), atLeast(1.7, oneThread)),
		b.dd(dataE, warm, atLeast(0.95, memoryName)),
		b.dd(dataE, cold, atLeast(1, erofsName)),
		b.dd(dataR, decodedCold, atLeast(1.6, squashfsName), atLeast(1.9, squashfuseName)),
		b.dd(dataC, decodedCold, atLeast(1.7, squashfsName), atLeast(1.9, squashfuseName)),
		b.ddSegmentation(),
		b.preads(dataE, 2.5, atMost(0.65, beforeName)),
		b.preads(dataR, 1.6, atMost(0.4, beforeName)),
		b.preads(dataQ, 1.8),
		b.manyReaders(),
		b.boxPatches(dataR, atMost(0.6, beforeName)),
		b.boxPatches(dataQ, atMost(0.5, beforeName)),
		b.memmapPatches(dataR, atMost(1.2, erofsName)),
		b.memmapPatches(dataQ, atMost(0.5, beforeName)),
		b.xyPlane(dataE),
		b.xyPlane(dataR),
		b.memmapPlane(dataE, 1, 0.5),
		b.memmapPlane(dataE, 0, 0.5),
		b.memmapPlane(dataR, 0, 0.8),
		b.regions("box/ 256³ of E", mag.boxes, atLeast(1.6, oneThread), atLeast(0.9, ddName)),
		b.regions("slices/ of E", mag.slices, atLeast(1.6, oneThread), atLeast(0.6, ddName)),
		b.ddLayer(),
		b.ddGrowing(),
		b.mounting(),
		b.listing(),
		b.listingBlocks(),
		b.ddLate(1, 0.8),
		b.ddLate(5, 0.6),
		b.ddLate(20, 0.3),
		b.boxesLate(1),
		b.boxesLate(5),
		b.boxesLate(20),
		b.preadsLate(1),
		b.preadsLate(5),
		b.preadsLate(20),
		b.manyReadersLate(5),
		b.firstBytes(15, 2, 1),
		b.firstBytesLate(400, 40, 20),
		b.listingLate(),
		b.checkLate(),
		b.infoLate(),
		b.copyLate(),
	}
}

// run does the jobs that were asked for. When it fails, it returns what it has.
func (b *bench) run(ctx context.Context) ([]outcome, error) {
	if err := os.MkdirAll(b.dir, 0o777); err != nil {
		return nil, err
	}
	var done []outcome
	for _, j := range b.jobs() {
		if !b.only.MatchString(j.name) {
			continue
		}
		contenders, err := j.setup(ctx)
		if errors.Is(err, errNoReference) {
			b.leftOut = fmt.Errorf("R and Q are left out: %w", err)
			continue
		}
		if err != nil {
			return done, fmt.Errorf("%s: %w", j.name, err)
		}
		j.contenders = slices.DeleteFunc(contenders, func(c contender) bool {
			return c.name == beforeName && c.absent != "" && !j.compares(beforeName)
		})
		o, err := j.run(ctx, b.rounds, b.say)
		if err != nil {
			return done, err
		}
		done = append(done, o)
	}
	return append(done, memoryOf(done)...), nil
}

// mountCommand returns the command by which a program mounts a mag on a directory. The
// server's log is kept with the data.
func (b *bench) mountCommand(program string, m mag, dir string, cache int, flags ...string) []string {
	log := filepath.Join(b.dir, "wkwfs.log")
	return append([]string{program, "mount", "--cache-size", strconv.Itoa(cache) + "MiB", "--log-file", log, m.dir, dir}, flags...)
}

// findProgram returns the path of a program, which has to be there.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w (make build makes it)", err)
	}
	return filepath.Abs(path)
}
