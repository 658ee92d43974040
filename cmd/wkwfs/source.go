package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/store"
	"github.com/wkwfs/wkwfs/precomputed"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// sourceFlags is how a SOURCE is to be read, in every command that takes one.
type sourceFlags struct {
	followLinks bool
	ioDepth     ioDepth
}

func (s *sourceFlags) register(flags *pflag.FlagSet) {
	s.ioDepth = store.DefaultDepth
	flags.BoolVar(&s.followLinks, "follow-links", false, "follow links and paths that lead out of SOURCE")
	flags.Var(&s.ioDepth, "io-depth", "how many requests to SOURCE may be under way at once when it answers late: 64 suits disks and file servers")
}

// depth is how many requests may be under way, also where there are no flags.
func (s sourceFlags) depth() int { return cmp.Or(int(s.ioDepth), store.DefaultDepth) }

// ioDepth is a number of requests that wait for an answer.
type ioDepth int

const maxIODepth = 1024

func (d *ioDepth) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxIODepth {
		return usageError("", "%q is not a number from 1 to %d", text, maxIODepth)
	}
	*d = ioDepth(n)
	return nil
}

func (d *ioDepth) String() string { return strconv.Itoa(int(*d)) }
func (d *ioDepth) Type() string   { return "N" }

// source is what lies at the path that the user named.
type source struct {
	volume.Root
	*directories
}

// openSource recognises what lies at the path: a dataset, a layer, a mag, a cube file
// or a Precomputed volume. Nothing outside the path is reachable through the result
// unless the flags say so; for what lies inside a dataset, the metadata of that dataset
// is read here, once.
func openSource(path string, s sourceFlags, log *slog.Logger) (*source, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	dir, name := path, "."
	if !info.IsDir() {
		dir, name = filepath.Split(path)
	}
	dirs := &directories{sourceFlags: s}
	fsys, err := dirs.open(dir)
	if err != nil {
		return nil, err
	}
	root, err := dirs.recognise(fsys, path, name, log)
	if err == nil {
		return &source{root, dirs}, nil
	}
	defer fsys.Close()
	if errors.Is(err, wkw.ErrNotRecognised) {
		if inside := dirs.children(fsys, path); inside != nil {
			return nil, hinted("name what is in it: "+listed(inside), "%s: %w", path, err)
		}
		return nil, hinted("name a directory that has datasource-properties.json, header.wkw, z0/y0/x0.wkw or info in it or below it", "%s: %w", path, err)
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

// recognise asks one format after the other.
func (d *directories) recognise(fsys fs.FS, path, name string, log *slog.Logger) (volume.Root, error) {
	root, err := wkw.Recognise(fsys, name, wkw.Options{
		Name:    filepath.Base(path),
		Above:   func(levels int) wkw.Place { return placeOf(path, levels, log) },
		Foreign: d.foreign(path),
		Outside: d.outside(path),
		Log:     log,
	})
	if !errors.Is(err, wkw.ErrNotRecognised) {
		return root, err
	}
	root, other := precomputed.Recognise(fsys, name, precomputed.Options{Outside: d.outside(path)})
	if errors.Is(other, precomputed.ErrNotRecognised) {
		return root, err
	}
	return root, other
}

// maxChildren is how many entries of a directory are looked at in search of a source.
const maxChildren = 100

// children returns the paths of what could be a source in a directory that is none.
func (d *directories) children(fsys fs.FS, path string) []string {
	entries, _ := fs.ReadDir(fsys, ".")
	var found []string
	for _, e := range entries[:min(len(entries), maxChildren)] {
		if !e.IsDir() {
			continue
		}
		child := filepath.Join(path, e.Name())
		if _, err := d.recognise(fsys, child, e.Name(), slog.New(slog.DiscardHandler)); err == nil {
			found = append(found, shellWord(child))
		}
	}
	return found
}

// foreign opens layers of a WKW dataset that are in another format.
func (d *directories) foreign(dataset string) func(string, fs.FS, string) (volume.Layer, error) {
	return func(format string, fsys fs.FS, dir string) (volume.Layer, error) {
		if format != "neuroglancerPrecomputed" {
			return nil, fs.ErrNotExist
		}
		root, err := precomputed.Recognise(fsys, dir, precomputed.Options{Outside: d.outside(filepath.Join(dataset, dir))})
		return root.Layer, err
	}
}

// placeOf finds the dataset that a path lies in, so many directories up.
func placeOf(path string, levels int, log *slog.Logger) wkw.Place {
	var place wkw.Place
	up := path
	for range levels {
		place.Layer, up = filepath.Base(up), filepath.Dir(up)
	}
	fsys, err := store.Open(up)
	if err != nil {
		return place
	}
	defer fsys.Close()
	place.Properties, err = wkw.ReadProperties(fsys, ".")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Warn("metadata of the dataset not used", "dataset", up, "err", err)
	}
	return place
}
