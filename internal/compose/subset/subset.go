// Package subset makes a source of some layers and mags of another source. It copies nothing: the result always
// shows the current state of the other source.
package subset

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/volume"
)

// Options say what to take. The zero value takes everything.
type Options struct {
	Layers []string // names; none: all layers
	Mag    string   // name, or factor such as 2-2-1; empty: all mags
}

// Of returns a dataset or a layer with the layers and mags of the options. A layer without the mag is left out. A mag
// becomes a layer, and a cube a mag of a layer, so that all of them have a view for viewers. It fails if the source has
// no such layer or mag.
func Of(root volume.Root, o Options) (volume.Root, error) {
	switch {
	case root.Dataset != nil:
		return dataset(root.Dataset, o)
	case len(o.Layers) > 0:
		return volume.Root{}, hint.Usagef("leave out --layer, or name the dataset",
			"--layer: the source is not a dataset: it has no layers")
	}
	return layer(root.AsLayer(), o)
}

// dataset checks that each layer exists, and that one of them has the mag.
func dataset(d volume.Dataset, o Options) (volume.Root, error) {
	all, err := d.Layers()
	if err != nil {
		return volume.Root{}, err
	}
	for _, name := range o.Layers {
		if !slices.Contains(all, name) {
			return volume.Root{}, hint.Usagef(hint.DidYouMean(name, all, "the layers are "+hint.List(all)),
				"--layer: there is no layer %q", name)
		}
	}
	part := someLayers{d, o}
	if o.Mag == "" {
		return volume.Root{Dataset: part}, nil
	}
	var names []string
	for _, name := range all {
		if !part.has(name) {
			continue
		}
		l, err := d.Layer(name)
		if err != nil {
			return volume.Root{}, err
		}
		mags, err := l.Mags()
		if err != nil {
			return volume.Root{}, err
		}
		if slices.ContainsFunc(mags, o.hasMag) {
			return volume.Root{Dataset: part}, nil
		}
		names = append(names, mags...)
	}
	return volume.Root{}, o.noMag(names)
}

func layer(l volume.Layer, o Options) (volume.Root, error) {
	part := someMags{l, o}
	if o.Mag == "" {
		return volume.Root{Layer: part}, nil
	}
	all, err := l.Mags()
	if err == nil && !slices.ContainsFunc(all, o.hasMag) {
		err = o.noMag(all)
	}
	return volume.Root{Layer: part}, err
}

// noMag returns the error for a mag that no layer has.
func (o Options) noMag(all []string) error {
	slices.Sort(all)
	return hint.Usagef("the mags are "+strings.Join(slices.Compact(all), ", "), "--mag: there is no mag %q", o.Mag)
}

// hasMag reports whether the options take a mag.
func (o Options) hasMag(name string) bool {
	if o.Mag == "" || name == o.Mag {
		return true
	}
	want, ok := volume.ParseFactor(o.Mag)
	got, isFactor := volume.ParseFactor(name)
	return ok && isFactor && got == want
}

// someLayers is a dataset with the layers of the options.
type someLayers struct {
	volume.Dataset
	options Options
}

func (d someLayers) has(name string) bool {
	return len(d.options.Layers) == 0 || slices.Contains(d.options.Layers, name)
}

func (d someLayers) Layers() ([]string, error) {
	all, err := d.Dataset.Layers()
	return slices.DeleteFunc(all, func(name string) bool { return !d.has(name) }), err
}

func (d someLayers) Layer(name string) (volume.Layer, error) {
	if !d.has(name) {
		return nil, fmt.Errorf("layer %s: %w", name, fs.ErrNotExist)
	}
	l, err := d.Dataset.Layer(name)
	if err != nil {
		return nil, err
	}
	return someMags{l, d.options}, nil
}

// someMags is a layer with the mags of the options.
type someMags struct {
	volume.Layer
	options Options
}

func (l someMags) Mags() ([]string, error) {
	all, err := l.Layer.Mags()
	return slices.DeleteFunc(all, func(name string) bool { return !l.options.hasMag(name) }), err
}

func (l someMags) Mag(name string) (volume.Mag, error) {
	if !l.options.hasMag(name) {
		return nil, fmt.Errorf("mag %s: %w", name, fs.ErrNotExist)
	}
	return l.Layer.Mag(name)
}
