package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"sync"
)

// noPython is why a contender is absent.
const noPython = "no python3 with zarr"

// zarrProgram writes and reads Zarr 2 with zarr-python.
//
//go:embed arrays.py
var zarrProgram string

// findZarr returns a Python with zarr-python. It returns "" if there is none. Python is asked once: it takes a second.
var findZarr = sync.OnceValue(func() string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if command(context.Background(), name, "-c", "import zarr, numcodecs").Run() == nil {
			return name
		}
	}
	return ""
})

// pythonContender returns the contender that runs zarrProgram on an array. measured returns its figure for the time in seconds
// that the program prints.
func (a *array) pythonContender(mode string, args []string, measured func(seconds float64) float64, sum uint32) contender {
	c := contender{name: pythonName}
	python := findZarr()
	switch {
	case a.format != zarr2:
		c.absent = "Debian's zarr-python reads only Zarr 2"
	case python == "":
		c.absent = noPython
	}
	c.turn = func(ctx context.Context) (t turn, err error) {
		if err := cacheFiles(ctx, a.stored); err != nil {
			return t, err
		}
		cmd := command(ctx, python, append([]string{"-c", zarrProgram, mode, a.dir}, args...)...)
		cmd.Stderr = os.Stderr
		output, err := cmd.Output()
		if err != nil {
			return t, fmt.Errorf("%s: %w", python, err)
		}
		var seconds float64
		if _, err := fmt.Sscan(string(output), &seconds, &t.cpu, &t.sum); err != nil {
			return t, errors.Join(fmt.Errorf("%s printed %q", python, strings.TrimSpace(string(output))), err)
		}
		if sum != 0 && t.sum != sum {
			return t, fmt.Errorf("%s: expected voxels with the CRC %08x, found %08x", python, sum, t.sum)
		}
		t.values = []float64{measured(seconds)}
		return t, nil
	}
	return c
}

// readByPython reads all of the array into memory that is resident, in two threads.
func (a *array) readByPython() contender {
	c := a.pythonContender("read", nil, func(seconds float64) float64 { return float64(a.bytes()) / 1e9 / seconds }, a.sum)
	run := c.turn
	c.turn = func(ctx context.Context) (turn, error) {
		t, err := run(ctx)
		t.bytes, t.sum = a.bytes(), 0
		return t, err
	}
	return c
}

// patchesByPython reads small boxes.
func (a *array) patchesByPython() contender {
	var boxes []string
	for _, box := range a.patches() {
		boxes = append(boxes, box.String())
	}
	return a.pythonContender("patches", boxes, func(seconds float64) float64 { return seconds * 1000 }, 0)
}

// sumFile returns the CRC of a file.
func sumFile(ctx context.Context, path string) (sum uint32, err error) {
	err = readThrough(ctx, path, func(p []byte) error {
		sum = crc32.Update(sum, crc32.IEEETable, p)
		return nil
	})
	return sum, err
}
