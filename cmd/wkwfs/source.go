package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/store"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// openSource recognises what lies at the path: a dataset, a layer, a mag or a cube
// file. Nothing outside the path is reachable through the result; for what lies
// inside a dataset, the metadata of that dataset is read here, once.
func openSource(path string, log *slog.Logger) (volume.Root, error) {
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
	fsys, err := store.Open(dir)
	if err != nil {
		return volume.Root{}, err
	}
	root, err := wkw.Recognise(fsys, name, wkw.Options{
		Name:  filepath.Base(path),
		Above: func(levels int) wkw.Place { return placeOf(path, levels, log) },
		Log:   log,
	})
	if err == nil {
		return root, nil
	}
	fsys.Close()
	if errors.Is(err, wkw.ErrNotRecognised) {
		return root, hinted("name a directory that has datasource-properties.json, header.wkw or z0/y0/x0.wkw in it or below it", "%s: %w", path, err)
	}
	return root, fmt.Errorf("%s: %w", path, err)
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
