package main

import (
	"context"
	"errors"
	"path/filepath"
)

// segmentationLayer is the name of the layer of a dataset of WEBKNOSSOS.
const segmentationLayer = "segmentation"

// withLayer returns a cube as a dataset of WEBKNOSSOS with one layer.
func (b *bench) withLayer(d *dataset) form { return b.written(d, "dataset", numpyModule) }

// The names of contenders that compute what they show.
const (
	mergedName = "wkwfs, merged"
	mappedName = "wkwfs, mapped"
	itselfName = "wkwfs, Q itself"
)

// computed returns a merged or mapped layer beside the layer itself, and a file in their mags.
func computed(name, file string, show func(b *bench, d *dataset, file string) []contender) func(*bench, *dataset) []contender {
	return func(b *bench, d *dataset) []contender {
		below := b.withLayer(d)
		itself := b.wkwfs(local(below.path, cubeOf(d.mag)), filepath.Join(segmentationLayer, "1", file))
		itself.Name = itselfName
		all := show(b, d, file)
		all[0].Name = name
		return append(all, b.among(below, itself)...)
	}
}

// merged returns the dataset with an annotation of 5 % of its blocks over it. They have the same voxels, so all contenders read the same.
func merged(b *bench, d *dataset, file string) []contender {
	below, annotation := b.withLayer(d), b.written(d, "annotation.zip", zarrModules)
	c := b.wkwfs(local(annotation.path, cubeOf(d.mag), annotation.path), filepath.Join(segmentationLayer, "1", file), "--over", below.path)
	return b.among(annotation.and(below), c)
}

// mapped returns the dataset with its ids mapped by a list, which maps each id to itself.
func mapped(b *bench, d *dataset, file string) []contender {
	below, table := b.withLayer(d), b.writtenAs(d, "table.npy", numpyModule, "10000000")
	c := b.wkwfs(local(below.path, cubeOf(d.mag), table.path), filepath.Join(segmentationLayer+"@table", "1", file),
		"--relabel", segmentationLayer+"="+table.path)
	return b.among(table.and(below), c)
}

// and returns a form that needs another one, too.
func (f form) and(other form) form {
	create := f.create
	f.create = func(ctx context.Context) error { return errors.Join(other.create(ctx), create(ctx)) }
	return f
}
