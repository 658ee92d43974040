package main

import (
	"context"
	"path/filepath"
	"strconv"
)

// form is a dataset in another format.
type form struct {
	path    string
	modules string // of Python, which write it; empty: Python does not
	create  func(context.Context) error
}

// The path of the voxels in the mount of a file: of one that has several arrays, and of one that is an array.
const (
	layerOfFile = "data/1"
	magOfFile   = "1"
)

// written returns a form that Python writes. Its name says what it is.
func (b *bench) written(d *dataset, name, modules string) form {
	return b.writtenAs(d, name, modules, d.grid.Size.String())
}

func (b *bench) writtenAs(d *dataset, name, modules, shape string) form {
	path := filepath.Join(d.dir, name)
	python, _ := b.python(modules)
	return form{path, modules, func(ctx context.Context) error {
		return createOnce(path, func(part string) error {
			b.progress("making %s", path)
			return call(ctx, python, "-c", peersProgram, "write", name, part, d.flat, d.grid.Type.String(), shape)
		})
	}}
}

// zarr3 returns an import as Zarr 3: shards of 512³, chunks of 32³ in zstd, as WEBKNOSSOS writes them.
func (b *bench) zarr3(d *dataset) form {
	path := filepath.Join(d.dir, "zarr3")
	shard := strconv.Itoa(min(512, d.grid.Size[0]/2))
	return form{path, "", func(ctx context.Context) error {
		return createOnce(path, func(part string) error {
			b.progress("making %s", path)
			return call(ctx, b.importCommand(d, "--category", "color", "--format", "zarr3", "--cube", shard)(part)...)
		})
	}}
}

// mounted returns wkwfs with the form, and a file or directory in its mount.
func (b *bench) mounted(f form, file string, flags ...string) contender {
	return b.wkwfs(local(f.path, f.path), file, flags...)
}

// among returns contenders that need the form. The others of the job stay if it cannot be made.
func (b *bench) among(f form, all ...contender) []contender {
	for i := range all {
		all[i].create = f.create
	}
	if f.modules == "" {
		return all
	}
	return b.needs(f.modules, all...)
}

// asWKW returns wkwfs with the dataset itself.
func (b *bench) asWKW(d *dataset, file string) contender {
	c := b.wkwfs(local(d.mag), file)
	c.Name = asWKWName
	return c
}

// ddForm returns the contenders of a job that reads a form from start to end, beside the dataset itself.
func ddForm(mag string, make func(b *bench, d *dataset) form, by ...peer) func(b *bench, d *dataset) []contender {
	return amongForm(mag+"/volume.raw", "volume.raw", make, func(b *bench, p reader) work { return p.all(b) }, by)
}

// patchesOfForm returns the contenders of a job that reads small boxes.
func patchesOfForm(mag string, make func(b *bench, d *dataset) form, by ...peer) func(b *bench, d *dataset) []contender {
	return amongForm(mag, "", make, func(b *bench, p reader) work { return p.boxes(b, patches(maxPatches)) }, by)
}

// peer is a library of Python that reads a form.
type peer struct {
	name string
	reader
}

func amongForm(file, asWKW string, make func(*bench, *dataset) form, do func(*bench, reader) work, by []peer) func(*bench, *dataset) []contender {
	return func(b *bench, d *dataset) []contender {
		f := make(b, d)
		all := []contender{b.mounted(f, file)}
		for _, p := range by {
			direct := contender{stored: []string{f.path}, file: f.path}.by(p.name, do(b, p.reader))
			all = append(all, b.needs(p.modules, direct)...)
		}
		return append(b.among(f, all...), b.asWKW(d, asWKW))
	}
}

// python returns a function that makes a form that Python writes.
func python(name, modules string) func(b *bench, d *dataset) form {
	return func(b *bench, d *dataset) form { return b.written(d, name, modules) }
}
