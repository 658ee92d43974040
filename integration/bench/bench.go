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
	dir      string // directory of the data
	refdata  string // directory of datasets that other programs wrote; it may be missing
	program  string // the wkwfs that is measured
	before   string // another wkwfs, measured in the same rounds; empty: none
	cache    int    // memory for decoded blocks in MiB
	rounds   int
	only     *regexp.Regexp // matches the jobs to run
	sizes    sizes
	progress func(format string, args ...any)

	notes   []string         // text above the table
	skipped error            // why the jobs of R and Q did not run; nil if they ran
	cubes   map[string]*cube // open cubes by name
	memory  []byte           // see buffer
}

// jobs returns all jobs.
func (b *bench) jobs() []job {
	return []job{
		b.decoder(),
		b.dd(dataE, decodedCold, atLeast(1, erofsName), atLeast(1.7, squashfsName), atLeast(1.7, squashfuseName), atLeast(1.7, oneThread)),
		b.dd(dataE, warm, atLeast(0.95, memoryName)),
		b.dd(dataE, cold, atLeast(1, erofsName)),
		b.dd(dataR, decodedCold, atLeast(1.6, squashfsName), atLeast(1.9, squashfuseName)),
		b.dd(dataC, decodedCold, atLeast(1.7, squashfsName), atLeast(1.9, squashfuseName)),
		b.ddSegmentation(),
		b.ddNFS(dataE, 0.8),
		b.preads(dataE, 2.5, atMost(0.65, beforeName)),
		b.preads(dataR, 1.6, atMost(0.4, beforeName)),
		b.preads(dataQ, 1.8),
		b.manyReaders(),
		b.boxPatches(dataR, atMost(0.6, beforeName)),
		b.boxPatches(dataQ, atMost(0.5, beforeName)),
		b.memmapPatches(dataR, atMost(1.2, erofsName)),
		b.memmapPatches(dataQ, atMost(0.5, beforeName)),
		b.ddArray(dataR, zarr3, atLeast(0.8, codecName)),
		b.ddArray(dataR, zarr2, atLeast(0.8, codecName)),
		b.ddArray(dataQ, zarr2, atLeast(0.8, codecName)),
		b.arrayPatches(dataR, zarr3),
		b.arrayPatches(dataR, zarr2, atMost(1/1.5, pythonName)),
		b.arrayPatches(dataQ, zarr2, atMost(1/1.5, pythonName)),
		b.readChunks(dataR),
		b.readChunks(dataQ),
		b.readChunkPlanes(dataR),
		b.readChunkPlanes(dataQ),
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
		b.checkInParts(1.15),
		b.ddCloud(0.7),
		b.patchCloud(),
		b.preadCloud(),
		b.ddDiskCache(0.9),
		b.listingCloud(),
		b.requests(dataE),
		b.requests(dataR),
		b.requests(dataQ),
		b.importLZ4(dataR, 2.5),
		b.importLZ4(dataQ, 3),
		b.importRaw(dataR, 1.5),
		b.importMags(dataR, 1.4),
		b.importMags(dataQ, 1.8),
		b.importGzip(dataR, 1.2),
		b.importMemory(1024),
		b.importMemory(256, "--mags", "3"),
	}
}

// run runs the jobs that were selected. If one fails, it returns the outcomes so far and the error.
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
			b.skipped = fmt.Errorf("jobs of R and Q are skipped: %w", err)
			continue
		}
		if err != nil {
			return done, fmt.Errorf("%s: %w", j.name, err)
		}
		j.contenders = slices.DeleteFunc(contenders, func(c contender) bool {
			return c.name == beforeName && c.absent != "" && !j.compares(beforeName)
		})
		o, err := j.run(ctx, b.rounds, func() error { return warmMemory(b.sizes.warm) }, b.progress)
		if err != nil {
			return done, err
		}
		done = append(done, o)
	}
	return append(done, memoryRow(done)...), nil
}

// mountCommand returns the command with which a program mounts a mag on a directory. The log of the server is
// written to the directory of the data.
func (b *bench) mountCommand(program string, m mag, dir string, cache int, flags ...string) []string {
	log := filepath.Join(b.dir, "wkwfs.log")
	return append([]string{program, "mount", "--cache-size", strconv.Itoa(cache) + "MiB", "--log-file", log, m.dir, dir}, flags...)
}

// findProgram returns the absolute path of a program.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w (make build builds wkwfs)", err)
	}
	return filepath.Abs(path)
}
