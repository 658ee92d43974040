package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"

	"github.com/wkwfs/wkwfs/volume"
)

// memmapProgram reads boxes of voxels with numpy. It prints the median time of a box in seconds, and the CRC of all boxes.
//
//go:embed memmap.py
var memmapProgram string

// memmapPlane reads the middle plane across x or y with numpy. most is the maximum of the ratio to squashfs.
func (b *bench) memmapPlane(data string, across int, most float64) job {
	name := [...]string{"yz", "xz"}[across] + " plane of " + data
	return b.memmap(name, data, func(p piece) []volume.Box {
		box := volume.Box{Max: volume.Cube(p.side())}
		box.Min[across] = p.side() / 2
		box.Max[across] = p.side()/2 + 1
		return []volume.Box{box}
	}, atMost(most, squashfsName))
}

// memmapPatches reads small boxes with numpy.
func (b *bench) memmapPatches(data string, bounds ...bound) job {
	return b.memmap("64³ patches of "+data, data, piece.patches, bounds...)
}

// memmap returns a job that reads boxes of the flat file with numpy. It measures the median time of a box.
func (b *bench) memmap(name, data string, choose func(piece) []volume.Box, bounds ...bound) job {
	return job{
		name:    name + " by numpy.memmap, decoded-cold",
		figures: []figure{{"ms", bounds}},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, data)
			if err != nil {
				return nil, err
			}
			python := findNumpy(ctx)
			contenders := b.fileSystems(c, decodedCold, func(ctx context.Context, r reading) (turn, error) {
				return runPython(ctx, python, r.path, c.file.Grid(), choose(c.piece))
			})
			for i := range contenders {
				if python == "" {
					contenders[i].absent = "no python3 with numpy"
				}
			}
			return contenders, nil
		},
	}
}

// findNumpy returns a Python with numpy, which need not be the first Python in PATH. It returns "" if there is
// none.
func findNumpy(ctx context.Context) string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if command(ctx, name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	return ""
}

func runPython(ctx context.Context, python, path string, g volume.Grid, boxes []volume.Box) (turn, error) {
	args := []string{"-c", memmapProgram, path, g.Type.String(), g.Size.String()}
	for _, box := range boxes {
		args = append(args, box.String())
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
