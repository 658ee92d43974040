package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// omeProgram reads a layer by chunks or as a flat file.
//
//go:embed ome.py
var omeProgram string

const (
	numpyName     = "numpy, volume.npy"
	omeBeforeName = "ome.zarr, " + beforeName
	omePlaneStep  = 128 // planes, as PLANE_STEP in omeProgram
)

// omeWay is a way to read a layer. The way and the file are arguments of omeProgram.
type omeWay struct{ name, way, file string }

// readChunks reads all of a layer from its OME-Zarr view. The layer is one cube.
func (b *bench) readChunks(data string) job {
	return b.readOME("all of "+data+" by zarr-python, decoded-cold", data, func(m mag) int64 { return m.bytes() }, []omeWay{
		{"ome.zarr", "zarr", "ome.zarr/1"}, {omeBeforeName, "zarr", "ome.zarr/1"}, {"ome.zarr, 2 threads", "threads", "ome.zarr/1"}, {numpyName, "numpy", "1/volume.npy"},
	})
}

// readChunkPlanes reads planes across z of a layer from its OME-Zarr view. No chunk has voxels of two of them.
func (b *bench) readChunkPlanes(data string) job {
	planes := func(m mag) int64 { return int64((m.side()+omePlaneStep-8)/omePlaneStep) * m.planeBytes() }
	return b.readOME("xy planes of "+data+" by zarr-python, decoded-cold", data, planes, []omeWay{
		{"ome.zarr", "planes", "ome.zarr/1"}, {omeBeforeName, "planes", "ome.zarr/1"}, {"numpy.memmap, volume.npy", "memmap", "1/volume.npy"},
	})
}

// readOME reads a layer in several ways. size returns how many bytes of voxels are wanted.
func (b *bench) readOME(name, data string, size func(mag) int64, ways []omeWay) job {
	return job{
		name:    name,
		figures: []figure{{unit: "GB/s"}},
		setup: func(ctx context.Context) ([]contender, error) {
			p, err := b.piece(ctx, data)
			if err != nil {
				return nil, err
			}
			m, err := p.make(ctx, b.dir, b.progress)
			if err != nil {
				return nil, err
			}
			layer, err := m.layer()
			if err != nil {
				return nil, err
			}
			var contenders []contender
			for _, way := range ways {
				p := b.wkwfs(layer, way.file, b.cache)
				if way.name == omeBeforeName {
					p = b.pair(layer, way.file)[1]
				}
				p.name, p.stored = way.name, m.files()
				if findZarr() == "" {
					p.absent = noPython
				}
				if p.absent != "" && way.name == omeBeforeName {
					continue
				}
				contenders = append(contenders, p.reads(decodedCold, func(ctx context.Context, r reading) (turn, error) {
					return runOME(ctx, way.way, r.path, size(m))
				}))
			}
			return contenders, nil
		},
	}
}

// layer returns a layer with the mag, which is one cube, as its mag 1. The file is the same, under another name.
func (m mag) layer() (mag, error) {
	layer := mag{m.piece, filepath.Join(filepath.Dir(m.dir), "layer")}
	for _, name := range []string{"header.wkw", "z0/y0/x0.wkw"} {
		to := filepath.Join(layer.dir, "1", name)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return layer, err
		}
		if err := os.Link(filepath.Join(m.dir, name), to); err != nil && !errors.Is(err, fs.ErrExist) {
			return layer, err
		}
	}
	return layer, nil
}

// runOME runs omeProgram, which reads n bytes of voxels.
func runOME(ctx context.Context, way, path string, n int64) (t turn, err error) {
	output, err := command(ctx, findZarr(), "-c", omeProgram, way, path).Output()
	if err != nil {
		return t, explainOME(way, path, err)
	}
	var seconds float64
	if _, err := fmt.Sscan(string(output), &seconds, &t.cpu, &t.sum); err != nil {
		return t, errors.Join(fmt.Errorf("%s %s printed %q", way, path, output), err)
	}
	t.values, t.bytes = []float64{float64(n) / 1e9 / seconds}, n
	return t, nil
}

// explainOME returns the error of omeProgram with what it printed. If the path does not exist, that is the error.
func explainOME(way, path string, err error) error {
	if _, statErr := os.Stat(path); errors.Is(statErr, fs.ErrNotExist) {
		return fmt.Errorf("no %s/%s", filepath.Base(filepath.Dir(path)), filepath.Base(path))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%s %s: %w\n%s", way, path, err, exit.Stderr)
	}
	return fmt.Errorf("%s %s: %w", way, path, err)
}
