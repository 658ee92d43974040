package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/files/hdfsource"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/volume"
)

// splitHDF5 returns the file and the path in it of an input such as FILE.h5:/volumes/raw. An input that exists has no
// path.
func splitHDF5(input string) (file, path string) {
	if i := strings.LastIndex(input, ":/"); i > 0 && !exists(input) {
		return input[:i], input[i+1:]
	}
	return input, ""
}

// openHDF5 opens a dataset of an HDF5 file. It returns hdfsource.ErrNotRecognised if the input is none.
func openHDF5(input string) (*arrayfile.Array, error) {
	file, path := splitHDF5(input)
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil, hdfsource.ErrNotRecognised
	}
	root, closeFile, err := hdfsource.Recognise(os.DirFS(filepath.Dir(file)), filepath.Base(file), hdfsource.Options{})
	if err != nil {
		return nil, withPath(err, file)
	}
	in, err := openLayerOf(root.Dataset, file, path, closeFile)
	if err != nil {
		return nil, errors.Join(err, closeFile())
	}
	return in, nil
}

// withPath gives an error the path of the file instead of its name.
func withPath(err error, file string) error {
	if format := (*volume.FormatError)(nil); errors.As(err, &format) {
		format.File = file
	}
	if unsupported := (*volume.UnsupportedError)(nil); errors.As(err, &unsupported) {
		unsupported.File = file
	}
	return err
}

// openLayerOf opens the finest mag of the layer that has a path in the file, or of the only one.
func openLayerOf(d volume.Dataset, file, path string, closeFile func() error) (*arrayfile.Array, error) {
	names, err := d.Layers()
	if err != nil {
		return nil, err
	}
	name := strings.Trim(path, "/")
	if !slices.Contains(names, name) { // such as a time of a layer, exported_data/t0000
		name = strings.ReplaceAll(name, "/", "_")
	}
	if path == "" && len(names) == 1 {
		name = names[0]
	}
	if !slices.Contains(names, name) {
		var all []string
		for _, n := range names {
			all = append(all, hint.Quote(file+":/"+n))
		}
		return nil, hint.Errorf("INPUT is one of "+hint.List(all),
			"%s: the file has %d datasets that are volumes: which one is meant?", file, len(names))
	}
	l, err := d.Layer(name)
	if err != nil {
		return nil, err
	}
	mags, err := l.Mags()
	if err != nil {
		return nil, err
	}
	m, err := l.Mag(mags[0])
	if err != nil {
		return nil, err
	}
	in, err := arrayfile.OfMag(file, m, closeFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return in, nil
}
