package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/wkwfs/wkwfs/sample"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// bench is a run of the benchmark.
type bench struct {
	dir     string // of the data
	program string // the wkwfs that is measured
	cache   int    // MiB for decoded blocks
	rounds  int
	only    *regexp.Regexp // the jobs to do
	sizes   sizes
	say     func(string, ...any) // tells how far it is

	em *em // nil until a job needs it
}

// sizes is how large the data is.
type sizes struct {
	image int // side of the image, in voxels
}

var (
	usual = sizes{image: 1024}
	tiny  = sizes{image: 64}
)

func (s sizes) em() piece {
	return piece{"em-" + strconv.Itoa(s.image), volume.Cube(1), s.image, wkw.LZ4, sample.Usual.EM}
}

// jobs is everything that there is to do.
func (b *bench) jobs() []job {
	return []job{
		b.ddEM(decodedCold, atLeast(1, erofsName), atLeast(1.7, squashfsName), atLeast(1.7, squashfuseName), atLeast(1.7, oneThread)),
		b.ddEM(warm, atLeast(0.95, memoryName)),
		b.ddEM(cold),
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
		var err error
		if j.contenders, err = j.setup(ctx); err != nil {
			return done, fmt.Errorf("%s: %w", j.name, err)
		}
		o, err := j.run(ctx, b.rounds, b.say)
		if err != nil {
			return done, err
		}
		done = append(done, o)
	}
	return done, nil
}

// mountCommand is the command that mounts a mag on a directory. What its server has to
// say is kept beside the data.
func (b *bench) mountCommand(m mag, dir string, cache int, flags ...string) []string {
	log := filepath.Join(b.dir, "wkwfs.log")
	return append([]string{b.program, "mount", "--cache-size", strconv.Itoa(cache) + "MiB", "--log-file", log, m.dir, dir}, flags...)
}

// findProgram makes sure that there is something to measure.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w (make build makes it)", err)
	}
	return filepath.Abs(path)
}
