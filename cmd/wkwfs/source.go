package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/precomputed"
	"github.com/wkwfs/wkwfs/store"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// sourceFlags is how a SOURCE is to be read, in every command that takes one.
type sourceFlags struct{ followLinks bool }

func (s *sourceFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&s.followLinks, "follow-links", false, "follow links and paths that lead out of SOURCE")
}

// open opens a directory of the source.
func (s sourceFlags) open(dir string) (*store.Dir, error) {
	if s.followLinks {
		return store.OpenFollowing(dir)
	}
	return store.Open(dir)
}

// outside opens directories that lie outside of a dataset, where that is allowed.
func (s sourceFlags) outside(dataset string) func(path string) (fs.FS, error) {
	if !s.followLinks {
		return nil
	}
	return func(path string) (fs.FS, error) {
		path = strings.TrimPrefix(path, "file://")
		if strings.Contains(path, "://") {
			return nil, fmt.Errorf("%s: only directories on this machine can be read", path)
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dataset, path)
		}
		return store.OpenFollowing(path)
	}
}

// openSource recognises what lies at the path: a dataset, a layer, a mag, a cube file
// or a Precomputed volume. Nothing outside the path is reachable through the result
// unless the flags say so; for what lies inside a dataset, the metadata of that dataset
// is read here, once.
func openSource(path string, s sourceFlags, log *slog.Logger) (volume.Root, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return volume.Root{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return volume.Root{}, err
	}
	dir, name := path, "."
	if !info.IsDir() {
		dir, name = filepath.Split(path)
	}
	fsys, err := s.open(dir)
	if err != nil {
		return volume.Root{}, err
	}
	root, err := s.recognise(fsys, path, name, log)
	if err == nil {
		return root, nil
	}
	defer fsys.Close()
	if errors.Is(err, wkw.ErrNotRecognised) {
		if inside := s.children(fsys, path); inside != nil {
			return root, hinted("name what is in it: "+listed(inside), "%s: %w", path, err)
		}
		return root, hinted("name a directory that has datasource-properties.json, header.wkw, z0/y0/x0.wkw or info in it or below it", "%s: %w", path, err)
	}
	return root, fmt.Errorf("%s: %w", path, err)
}

// recognise asks one format after the other.
func (s sourceFlags) recognise(fsys fs.FS, path, name string, log *slog.Logger) (volume.Root, error) {
	root, err := wkw.Recognise(fsys, name, wkw.Options{
		Name:    filepath.Base(path),
		Above:   func(levels int) wkw.Place { return placeOf(path, levels, log) },
		Foreign: s.foreign(path),
		Outside: s.outside(path),
		Log:     log,
	})
	if !errors.Is(err, wkw.ErrNotRecognised) {
		return root, err
	}
	root, other := precomputed.Recognise(fsys, name, precomputed.Options{Outside: s.outside(path)})
	if errors.Is(other, precomputed.ErrNotRecognised) {
		return root, err
	}
	return root, other
}

// maxChildren is how many entries of a directory are looked at in search of a source.
const maxChildren = 100

// children returns the paths of what could be a source in a directory that is none.
func (s sourceFlags) children(fsys fs.FS, path string) []string {
	entries, _ := fs.ReadDir(fsys, ".")
	var found []string
	for _, e := range entries[:min(len(entries), maxChildren)] {
		if !e.IsDir() {
			continue
		}
		child := filepath.Join(path, e.Name())
		if _, err := s.recognise(fsys, child, e.Name(), slog.New(slog.DiscardHandler)); err == nil {
			found = append(found, shellWord(child))
		}
	}
	return found
}

// foreign opens layers of a WKW dataset that are in another format.
func (s sourceFlags) foreign(dataset string) func(string, fs.FS, string) (volume.Layer, error) {
	return func(format string, fsys fs.FS, dir string) (volume.Layer, error) {
		if format != "neuroglancerPrecomputed" {
			return nil, fs.ErrNotExist
		}
		root, err := precomputed.Recognise(fsys, dir, precomputed.Options{Outside: s.outside(filepath.Join(dataset, dir))})
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
