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

	notes []string // what is to be told with the table
	em    *em      // nil until a job needs it
}

// sizes is how large the data is, in voxels a side.
type sizes struct {
	image int // of the cube E
	ids   int // of the cube S
	cube  int // of each of the cubes of L
	many  volume.Vec
}

var (
	usual = sizes{image: 1024, ids: 512, cube: 512, many: volume.Vec{1000, 100, 1}}
	tiny  = sizes{image: 64, ids: 64, cube: 32, many: volume.Vec{10, 10, 1}}
)

func (s sizes) em() piece {
	return piece{"em-" + strconv.Itoa(s.image), volume.Cube(1), s.image, wkw.LZ4, sample.Usual.EM}
}

func (s sizes) segmentation() piece {
	return piece{"segmentation-" + strconv.Itoa(s.ids), volume.Cube(1), s.ids, wkw.LZ4HC, sample.Usual.Segmentation}
}

func (s sizes) layer() piece {
	return piece{"layer-" + strconv.Itoa(s.cube), volume.Vec{4, 4, 1}, s.cube, wkw.LZ4, sample.Usual.EM}
}

// named is cubes of two blocks a side, to be repeated along x: there is a limit to how
// many names one file can have.
func (s sizes) named() piece {
	return piece{"names-" + strconv.Itoa(s.many[0]), volume.Vec{1, s.many[1], 1}, 2 * blockSide, wkw.LZ4, sample.Usual.EM}
}

// jobs is everything that there is to do.
func (b *bench) jobs() []job {
	return []job{
		b.decoder(),
		b.ddEM(decodedCold, atLeast(1, erofsName), atLeast(1.7, squashfsName), atLeast(1.7, squashfuseName), atLeast(1.7, oneThread)),
		b.ddEM(warm, atLeast(0.95, memoryName)),
		b.ddEM(cold),
		b.ddSegmentation(),
		b.preads(),
		b.manyReaders(),
		b.xyPlane(),
		b.memmapPlane("xz", 1),
		b.memmapPlane("yz", 0),
		b.regions("box/ 256³ of E", mag.boxes),
		b.regions("slices/ of E", mag.slices),
		b.ddLayer(),
		b.ddGrowing(),
		b.mounting(),
		b.listing(),
		b.listingBlocks(),
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
	return append(done, memoryOf(done)...), nil
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
