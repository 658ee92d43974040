package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// mostPlanes is how many planes a turn of xyPlane reads.
const mostPlanes = 8

// xyPlane reads planes across z, each from a layer of blocks of which nothing was read.
func (b *bench) xyPlane() job {
	return job{
		name:    "one xy plane of E, first touch, decoded-cold",
		figures: []figure{{"ms", []bound{atMost(1.6, decoderOnTwo)}}},
		setup: func(ctx context.Context) ([]contender, error) {
			e, err := b.openEM(ctx)
			if err != nil {
				return nil, err
			}
			planes := e.mag.planes()
			decoder := contender{name: decoderOnTwo, turn: func(ctx context.Context) (turn, error) {
				if err := cacheFiles(ctx, e.mag.files()); err != nil {
					return turn{}, err
				}
				seconds, _, err := timed(func() error { return e.decodeLayers(ctx, planes) })
				return turn{values: []float64{seconds * 1000 / float64(len(planes))}}, err
			}}
			return append(e.shows(b, decodedCold, func(_ context.Context, r reading) (turn, error) {
				seconds, sum, err := e.readPlanes(r.path, planes)
				return turn{values: []float64{seconds * 1000 / float64(len(planes))}, sum: sum}, err
			}), decoder), nil
		},
	}
}

// planes returns the z of random planes, no two of which have a block in common.
func (m mag) planes() []int {
	r := rand.New(rand.NewPCG(3, 4))
	layers := r.Perm(m.side / blockSide)
	planes := layers[:min(mostPlanes, len(layers))]
	for i := range planes {
		planes[i] = planes[i]*blockSide + r.IntN(blockSide)
	}
	return planes
}

// decodeLayers decodes what the planes consist of.
func (e *em) decodeLayers(ctx context.Context, planes []int) error {
	for _, z := range planes {
		box := allBlocks(e.cube)
		box.Min[2], box.Max[2] = z/blockSide, z/blockSide+1
		if err := decode(ctx, e.cube, box, 2); err != nil {
			return err
		}
	}
	return nil
}

// readPlanes reads planes of the flat file, and returns the seconds that it took, and the CRC.
func (e *em) readPlanes(path string, planes []int) (seconds float64, sum uint32, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	plane := e.array[:e.mag.side*e.mag.side]
	for _, z := range planes {
		start := time.Now()
		if _, err := f.ReadAt(plane, int64(z*len(plane))); err != nil {
			return 0, 0, err
		}
		seconds += time.Since(start).Seconds()
		sum = crc32.Update(sum, crc32.IEEETable, plane)
	}
	return seconds, sum, nil
}

// readPlane is a program that prints the seconds that it took to copy a plane out of a
// numpy.memmap, and the CRC of the plane.
//
//go:embed plane.py
var readPlane string

// memmapPlane reads a plane across x or y with numpy.
func (b *bench) memmapPlane(name string, across int) job {
	return job{
		name:    name + " plane of E by numpy.memmap, decoded-cold",
		figures: []figure{{"ms", []bound{atMost(0.5, squashfsName)}}},
		setup: func(ctx context.Context) ([]contender, error) {
			e, err := b.openEM(ctx)
			if err != nil {
				return nil, err
			}
			python := findNumpy(ctx)
			all := e.shows(b, decodedCold, func(ctx context.Context, r reading) (turn, error) {
				return runPython(ctx, python, r.path, e.cube.Grid().Size, across)
			})
			for i := range all {
				if python == "" {
					all[i].absent = "no python3 with numpy"
				}
			}
			return all, nil
		},
	}
}

// findNumpy returns a Python that has numpy, which need not be the first one in PATH.
func findNumpy(ctx context.Context) string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if command(ctx, name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	return ""
}

func runPython(ctx context.Context, python, path string, size volume.Vec, across int) (turn, error) {
	args := []string{"-c", readPlane, path, strconv.Itoa(across)}
	for _, side := range size {
		args = append(args, strconv.Itoa(side))
	}
	cmd := command(ctx, python, args...)
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return turn{}, fmt.Errorf("%s: %w", python, err)
	}
	var seconds float64
	var sum uint32
	if _, err := fmt.Sscan(string(output), &seconds, &sum); err != nil {
		return turn{}, errors.Join(fmt.Errorf("%s printed %q", python, output), err)
	}
	return turn{values: []float64{seconds * 1000}, sum: sum}, nil
}
