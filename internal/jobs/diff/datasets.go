package diff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/volume"
)

// Choice says which layers and mags of two datasets are compared.
type Choice struct {
	Layer, Other string // of A and of B; empty: all that have the same name
	Mag          string // empty: all
	// VolumesA and VolumesB are not nil if a dataset is an annotation: for the name of each volume, that of the layer
	// that it lies over. Of an annotation beside a dataset, only its volumes are compared.
	VolumesA, VolumesB map[string]string
}

// Place is a mag of two layers, or a layer if Mag is empty.
type Place struct{ Layer, Other, Mag string }

// String returns "LAYER/MAG", or "LAYER=OTHER/MAG".
func (p Place) String() string {
	name := p.Layer
	if p.Other != p.Layer {
		name += "=" + p.Other
	}
	if p.Mag != "" {
		name += "/" + p.Mag
	}
	return name
}

// Report gets what a comparison finds.
type Report struct {
	Only   func(side string, p Place) // a layer or mag that only A or only B has
	Bounds func(Place, Result)        // the bounding boxes differ
	Found  func(Place, Difference)
	Failed func(Place, Fault) // the box is empty if the mag, or the layer, cannot be compared at all
}

// Datasets compares layers of two datasets. It fails if there is no layer or mag as the Choice wants it, or if ctx is
// done.
func Datasets(ctx context.Context, a, b volume.Dataset, want Choice, o Options, r Report) error {
	d := &datasets{o, want, r}
	pairs, err := d.pairs(a, b)
	if err != nil {
		return err
	}
	seen := 0
	for _, p := range pairs {
		n, err := d.layers(ctx, a, b, p)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.Failed(p, Fault{Err: err})
		}
		seen += n
	}
	if want.Mag != "" && seen == 0 && len(pairs) > 0 {
		return hint.Usagef("wkwfs info shows the mags", "--mag: no layer has the mag %q", want.Mag)
	}
	return nil
}

type datasets struct {
	Options
	want   Choice
	report Report
}

// pairs returns the layers that are compared, and reports those that only one dataset has.
func (d *datasets) pairs(a, b volume.Dataset) (all []Place, err error) {
	namesA, err := namesOf(a)
	if err != nil {
		return nil, fmt.Errorf("in A: %w", err)
	}
	namesB, err := namesOf(b)
	if err != nil {
		return nil, fmt.Errorf("in B: %w", err)
	}
	switch {
	case d.want.Layer != "":
		p := Place{Layer: d.want.Layer, Other: d.want.Other}
		return []Place{p}, errors.Join(isOf("A", p.Layer, namesA), isOf("B", p.Other, namesB))
	case d.want.VolumesA == nil && d.want.VolumesB != nil:
		for v, below := range d.want.VolumesB {
			all = append(all, Place{Layer: cmp.Or(below, v), Other: v})
		}
		return d.existing(all, namesA, namesB), nil
	case d.want.VolumesA != nil && d.want.VolumesB == nil:
		for v, below := range d.want.VolumesA {
			all = append(all, Place{Layer: v, Other: cmp.Or(below, v)})
		}
		return d.existing(all, namesA, namesB), nil
	case len(namesA) == 1 && len(namesB) == 1:
		return []Place{{Layer: namesA[0], Other: namesB[0]}}, nil
	}
	for _, name := range append(slices.Clone(namesA), namesB...) {
		all = append(all, Place{Layer: name, Other: name})
	}
	return d.existing(all, namesA, namesB), nil
}

// namesOf returns the layers of a dataset.
func namesOf(of volume.Dataset) (names []string, err error) {
	for name, err := range volume.EachLayer(of) {
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// isOf returns an error if a dataset has no layer of a name.
func isOf(side, name string, names []string) error {
	if slices.Contains(names, name) {
		return nil
	}
	return hint.Usagef(hint.DidYouMean(name, names, "the layers are "+hint.List(names)), "--layer: %s has no layer %q",
		side, name)
}

// existing returns the pairs whose layers exist, sorted, and reports the others.
func (d *datasets) existing(pairs []Place, namesA, namesB []string) (all []Place) {
	slices.SortFunc(pairs, func(a, b Place) int {
		return cmp.Or(strings.Compare(a.Layer, b.Layer), strings.Compare(a.Other, b.Other))
	})
	for _, p := range slices.Compact(pairs) {
		inA, inB := slices.Contains(namesA, p.Layer), slices.Contains(namesB, p.Other)
		switch {
		case inA && inB:
			all = append(all, p)
		case inA:
			d.report.Only("A", Place{Layer: p.Layer, Other: p.Layer})
		case inB:
			d.report.Only("B", Place{Layer: p.Other, Other: p.Other})
		}
	}
	return all
}

// layers compares two layers. It returns the number of mags that at least one has.
func (d *datasets) layers(ctx context.Context, a, b volume.Dataset, p Place) (n int, err error) {
	magsA, err := magsOf(a, p.Layer)
	if err != nil {
		return 0, fmt.Errorf("in A: %w", err)
	}
	magsB, err := magsOf(b, p.Other)
	if err != nil {
		return 0, fmt.Errorf("in B: %w", err)
	}
	for _, m := range magsA {
		at := Place{p.Layer, p.Other, m.name}
		i := slices.IndexFunc(magsB, func(o named) bool { return o.key == m.key })
		if d.want.Mag != "" && d.want.Mag != m.name && (i < 0 || d.want.Mag != magsB[i].name) {
			continue
		}
		n++
		if i < 0 {
			d.report.Only("A", Place{p.Layer, p.Layer, m.name})
			continue
		}
		if err := d.mags(ctx, at, m.Mag, magsB[i].Mag); err != nil {
			d.report.Failed(at, Fault{Err: err})
		}
		if ctx.Err() != nil {
			return n, nil
		}
	}
	for _, m := range magsB {
		only := !slices.ContainsFunc(magsA, func(o named) bool { return o.key == m.key })
		if only && (d.want.Mag == "" || d.want.Mag == m.name) {
			n++
			d.report.Only("B", Place{p.Other, p.Other, m.name})
		}
	}
	return n, nil
}

// named is a mag with its name, and with what is the same for the mag of another layer.
type named struct {
	volume.Mag
	name, key string
}

// magsOf returns the mags of a layer.
func magsOf(d volume.Dataset, layer string) (all []named, err error) {
	l, err := d.Layer(layer)
	if err != nil {
		return nil, err
	}
	names, err := l.Mags()
	if err != nil {
		return nil, fmt.Errorf("layer %s: %w", layer, err)
	}
	for _, name := range names {
		m, err := l.Mag(name)
		if err != nil {
			return nil, fmt.Errorf("layer %s, mag %s: %w", layer, name, err)
		}
		factor := m.About().Factor
		if factor == (volume.Factor{}) {
			factor, _ = volume.ParseFactor(name)
		}
		key := factor.String()
		if factor == (volume.Factor{}) && len(names) > 1 {
			key = name
		}
		all = append(all, named{m, name, key})
	}
	return all, nil
}

// mags compares two mags.
func (d *datasets) mags(ctx context.Context, at Place, a, b volume.Mag) error {
	o := d.Options
	o.Found = func(f Difference) { d.report.Found(at, f) }
	o.Failed = func(f Fault) { d.report.Failed(at, f) }
	r, err := Mags(ctx, a, b, o)
	if err == nil && r.BoundsA != r.BoundsB {
		d.report.Bounds(at, r)
	}
	return err
}
