package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/wkwfs/wkwfs/volume"
)

// peersProgram writes and reads other formats with libraries of Python.
//
//go:embed peers.py
var peersProgram string

// errMissing is the error if a library of Python is missing.
var errMissing = errors.New("no python3 with")

// noModule is the error of Python.
var noModule = regexp.MustCompile(`No module named '(\w+)'`)

// runPeers runs peersProgram with the Python that Debian's packages are for. It returns what the program printed.
func runPeers(ctx context.Context, args ...string) (string, error) {
	cmd := command(ctx, append([]string{"/usr/bin/python3", "-c", peersProgram}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if found := noModule.FindSubmatch(stderr.Bytes()); err != nil && found != nil {
		return "", fmt.Errorf("%w %s", errMissing, found[1])
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w numpy", errMissing)
	}
	if err != nil {
		return "", fmt.Errorf("%s in Python: %w\n%s", args, err, &stderr)
	}
	return string(output), nil
}

// reader is a way to read an array in Python.
type reader struct {
	kind    string // as in peersProgram
	workers int
}

var (
	byNumpy    = reader{"numpy", 1}
	byZarr     = reader{"zarr", 1} // which decodes a chunk in two threads
	byH5py     = reader{"h5py", 2}
	byTifffile = reader{"tifffile", 1}
)

// all reads all voxels.
func (p reader) all(ctx context.Context, r reading) (turn, error) {
	seconds, t, err := p.run(ctx, "read", r)
	t.Values, t.Bytes = []float64{float64(r.grid.Bytes()) / 1e9 / seconds}, r.grid.Bytes()
	return t, err
}

// boxes returns work that reads boxes.
func (p reader) boxes(choose func(volume.Grid) []volume.Box) work {
	return func(ctx context.Context, r reading) (turn, error) {
		var names []string
		for _, box := range choose(r.grid) {
			names = append(names, box.String())
		}
		seconds, t, err := p.run(ctx, "boxes", r, names...)
		t.Values = []float64{seconds * 1000}
		return t, err
	}
}

// run returns the time of all, or the median time of a box, divided by the workers.
func (p reader) run(ctx context.Context, mode string, r reading, boxes ...string) (seconds float64, t turn, err error) {
	args := []string{mode, p.kind, r.path, r.grid.Type.String(), r.grid.Size.String(), strconv.Itoa(p.workers)}
	output, err := runPeers(ctx, append(args, boxes...)...)
	if err == nil {
		_, err = fmt.Sscan(output, &seconds, &t.CPU, &t.sum)
	}
	return seconds, t, err
}

// form is a dataset in another format.
type form struct {
	path   string
	create func(context.Context) error
}

// form returns a dataset in the format that the name says. peersProgram knows the names.
func (b *bench) form(d *dataset, name string) form {
	path := filepath.Join(d.dir, name)
	return form{path, func(ctx context.Context) error {
		return createOnce(path, func(part string) error {
			b.progress("making %s", path)
			if name == "zarr3" { // shards of 512³, chunks of 32³ in zstd, as WEBKNOSSOS writes them
				shard := strconv.Itoa(min(512, d.grid.Size[0]/2))
				program := b.importCommand(d, "--category", "color", "--format", "zarr3", "--cube", shard)
				return call(ctx, program(part)...)
			}
			_, err := runPeers(ctx, "write", name, part, d.flat, d.grid.Type.String(), d.grid.Size.String())
			return err
		})
	}}
}

// with returns a contender that needs forms.
func (c contender) with(forms ...form) contender {
	c.create = func(ctx context.Context) error {
		for _, f := range forms {
			if err := f.create(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// as returns the contenders of a job that reads a form, beside the dataset itself. file is a file in its mount. A
// library of Python reads the form itself.
func as(name, mag, file, library string, do work) func(*bench, *dataset) []contender {
	return func(b *bench, d *dataset) []contender {
		f := b.form(d, name)
		own := b.wkwfs(local(f.path, f.path), filepath.Join(mag, file)).with(f)
		all := []contender{own, b.wkwfs(d.source(), file).named(asWKWName)}
		if do != nil {
			all = append(all, contender{stored: []string{f.path}, file: f.path}.by(library, do).with(f))
		}
		return all
	}
}

// qLayer is the directory of Q in the form "dataset".
const qLayer = "segmentation/1"

// merged returns Q with an annotation of 5 % of its blocks over it. They have the same voxels, so all contenders read
// the same.
func merged(b *bench, d *dataset) []contender {
	below, annotation := b.form(d, "dataset"), b.form(d, "annotation.zip")
	over := local(annotation.path, cubeOf(d.mag), annotation.path)
	return []contender{
		b.wkwfs(over, qLayer+"/volume.raw", "--over", below.path).named("wkwfs, merged").with(below, annotation),
		b.wkwfs(local(below.path, cubeOf(d.mag)), qLayer+"/volume.raw").named(itselfName).with(below),
	}
}

// mapped returns a file of Q with its ids mapped by a list of 10⁷, which maps each id to itself.
func mapped(file string) func(*bench, *dataset) []contender {
	return func(b *bench, d *dataset) []contender {
		below, table := b.form(d, "dataset"), b.form(d, "table.npy")
		source := local(below.path, cubeOf(d.mag), table.path)
		return []contender{
			b.wkwfs(source, "segmentation@table/1/"+file, "--relabel", "segmentation="+table.path).
				named("wkwfs, mapped").with(below, table),
			b.wkwfs(source, qLayer+"/"+file).named(itselfName).with(below, table),
		}
	}
}
