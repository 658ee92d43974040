package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"strconv"

	"github.com/wkwfs/wkwfs/volume"
)

// peersProgram writes and reads other formats with libraries of Python.
//
//go:embed peers.py
var peersProgram string

// The names of contenders in Python. The names of their libraries are the first words.
const (
	zarrName     = "zarr-python"
	h5pyName     = "h5py, both cores"
	tifffileName = "tifffile"
	numpyName    = "numpy, volume.npy"
)

// The modules that a Python needs for a kind of files.
const (
	numpyModule    = "numpy"
	zarrModules    = "zarr, numcodecs"
	h5pyModule     = "h5py"
	tifffileModule = "tifffile, zarr"
)

// python returns a Python with modules, which need not be the first one in PATH, or why there is none. Each is asked once: it takes a
// second.
func (b *bench) python(modules string) (program, absent string) {
	if found, ok := b.pythons[modules]; ok {
		program = found
	} else {
		for _, name := range []string{"python3", "/usr/bin/python3"} {
			if call(context.Background(), name, "-c", "import numpy, "+modules) == nil {
				program = name
				break
			}
		}
		b.pythons[modules] = program
	}
	if program == "" {
		absent = "no python3 with " + modules
	}
	return program, absent
}

// reader is a way to read an array in Python.
type reader struct {
	kind    string // as in peersProgram
	modules string
	workers int
}

var (
	byNumpy    = reader{"numpy", numpyModule, 1}
	byZarr     = reader{"zarr", zarrModules, 1}
	byH5py     = reader{"h5py", h5pyModule, 2}
	byTifffile = reader{"tifffile", tifffileModule, 1}
)

// all returns work that reads all voxels.
func (p reader) all(b *bench) work {
	return func(ctx context.Context, r reading) (turn, error) {
		seconds, _, t, err := p.run(ctx, b, "read", r)
		t.Values, t.Bytes = []float64{float64(r.grid.Bytes()) / 1e9 / seconds}, r.grid.Bytes()
		return t, err
	}
}

// boxes returns work that reads boxes.
func (p reader) boxes(b *bench, choose func(volume.Grid) []volume.Box) work {
	return func(ctx context.Context, r reading) (turn, error) {
		var names []string
		for _, box := range choose(r.grid) {
			names = append(names, box.String())
		}
		_, box, t, err := p.run(ctx, b, "boxes", r, names...)
		t.Values = []float64{box * 1000}
		return t, err
	}
}

// run runs peersProgram. It returns the time of all and the median time of a box in seconds.
func (p reader) run(ctx context.Context, b *bench, mode string, r reading, boxes ...string) (all, box float64, t turn, err error) {
	python, _ := b.python(p.modules)
	args := []string{python, "-c", peersProgram, mode, p.kind, r.path, r.grid.Type.String(), r.grid.Size.String(), strconv.Itoa(p.workers)}
	cmd := command(ctx, append(args, boxes...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return 0, 0, t, fmt.Errorf("%s %s: %w\n%s", p.kind, r.path, err, &stderr)
	}
	if _, err := fmt.Sscan(string(output), &all, &box, &t.CPU, &t.sum); err != nil {
		return 0, 0, t, fmt.Errorf("%s %s printed %q: %w", p.kind, r.path, output, err)
	}
	return all, box, t, nil
}

// needs returns contenders that need modules of Python.
func (b *bench) needs(modules string, all ...contender) []contender {
	_, absent := b.python(modules)
	for i := range all {
		if all[i].Absent == "" {
			all[i].Absent = absent
		}
	}
	return all
}
