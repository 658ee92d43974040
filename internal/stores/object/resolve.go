package object

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
)

// purpose is what a name is resolved for.
type purpose int

const (
	toDescribe purpose = iota // it may be a directory
	toOpen                    // it is a file, unless the store can list
)

// resolve finds out what a name is, with as few requests as possible: if its directory can be listed with one request,
// that answers questions about all names in it.
func (f *FS) resolve(ctx context.Context, name string, to purpose) (fact, error) {
	if name == "." {
		return fact{kind: directory}, nil
	}
	if found, ok := f.facts.find(name); ok && (found.kind != absent || to == toOpen || !f.cannotList(path.Dir(name))) {
		return found, nil
	}
	parent, err := f.list(ctx, path.Dir(name))
	if err != nil {
		return fact{}, err
	}
	if parent.entries != nil {
		if found := parent.entries.get(name); found.complete() && (found.kind != absent || !f.facts.isHidden(name)) {
			return found, nil
		}
	}
	start := time.Now()
	o, err := f.b.Head(ctx, name)
	switch {
	case err == nil:
		found := fact{o, file}
		f.facts.record(name, found, start)
		if parent.err != nil {
			f.facts.found(name)
		}
		return found, nil
	case !errors.Is(err, fs.ErrNotExist):
		return fact{}, err
	}
	kind := absent
	if errors.Is(err, ErrDirectory) {
		kind = directory
	} else if parent.entries != nil && f.facts.isHidden(name) {
		kind = absent // no dataset has a directory with such a name
	} else if parent.err == nil || to == toDescribe {
		if kind, err = f.kindOfDirectory(ctx, name); err != nil {
			return fact{}, err
		}
	}
	found := fact{Object{Key: name}, kind}
	f.facts.record(name, found, start)
	return found, nil
}

// cannotList reports whether a directory is known to be one that cannot be listed.
func (f *FS) cannotList(dir string) bool {
	l, ok := f.facts.validListing(dir)
	return ok && l.err != nil
}

// kindOfDirectory returns whether a name that is no object is a directory.
func (f *FS) kindOfDirectory(ctx context.Context, name string) (kind int, err error) {
	below, err := f.list(ctx, name)
	switch {
	case err != nil:
		return absent, err
	case below.err != nil:
		return f.probe(ctx, name)
	case below.entries != nil && len(below.entries) == 0:
		return absent, nil
	}
	return directory, nil
}

// metadataNames are the files that directories of datasets have.
var metadataNames = []string{
	"header.wkw", "zarr.json", ".zarray", ".zgroup", ".zattrs", "attributes.json", "info", "datasource-properties.json",
}

// probe returns whether a name on a server that cannot list is a directory: one in which a file was found, or that has
// a file of metadata.
func (f *FS) probe(ctx context.Context, name string) (kind int, err error) {
	if f.facts.hadFile(name) {
		return directory, nil
	}
	if isData(path.Base(name)) {
		return absent, nil
	}
	ask := func(base string) error {
		start, below := time.Now(), path.Join(name, base)
		o, err := f.b.Head(ctx, below)
		if err == nil {
			f.facts.record(below, fact{o, file}, start)
			f.facts.found(below)
		}
		return err
	}
	kind = absent
	for _, e := range parallel.Each(metadataNames, ask) {
		switch {
		case e == nil:
			kind = directory
		case !errors.Is(e, fs.ErrNotExist) && err == nil:
			err = e
		}
	}
	if kind == directory {
		return kind, nil
	}
	return absent, err
}

// isData reports whether a name can only be that of a file: of metadata, a cube, a shard or a chunk.
func isData(name string) bool {
	return slices.Contains(metadataNames, name) ||
		slices.Contains([]string{".wkw", ".json", ".shard", ".gz"}, path.Ext(name)) ||
		strings.Contains(name, "_") && strings.Trim(name, "0123456789-_") == ""
}
