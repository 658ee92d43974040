package overlay

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/volume"
)

// Layer is a layer over another one. It has the mags that both have. If the layer above has no block at all, it is
// the layer below.
type Layer struct {
	volume.Layer // below
	above        volume.Layer

	mu   sync.Mutex
	mags map[string]*Mag // by their names below
}

var (
	_ volume.Omitter         = (*Layer)(nil)
	_ volume.MetadataChecker = (*Layer)(nil)
)

// NewLayer lays one layer over another. It fails if the layer below is an image, or if both have voxels of different
// types; the names are for the error.
func NewLayer(below, above volume.Layer, nameBelow, nameAbove string) (*Layer, error) {
	l := &Layer{Layer: below, above: above, mags: map[string]*Mag{}}
	names, err := below.Mags()
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s over %s: expected a layer with mags below, found none", nameAbove, nameBelow)
	}
	common := 0
	for _, name := range names {
		b, err := below.Mag(name)
		if err != nil {
			return nil, err
		}
		if category := b.About().Category; category != "" && category != "segmentation" {
			return nil, fmt.Errorf("%s over %s: expected a segmentation below, found a layer of category %s", nameAbove,
				nameBelow, category)
		}
		a, err := l.find(name, b)
		if err != nil {
			return nil, err
		}
		if a == nil {
			continue
		}
		common++
		if err := Compatible(b, a, nameBelow, nameAbove); err != nil {
			return nil, err
		}
	}
	if common == 0 && !l.isEmpty() {
		return nil, fmt.Errorf("%s over %s: expected a mag that both have, found none", nameAbove, nameBelow)
	}
	return l, nil
}

// factorOf returns the factor of a mag.
func factorOf(name string, m volume.Mag) volume.Factor {
	if f := m.About().Factor; f != (volume.Factor{}) {
		return f
	}
	f, _ := volume.ParseFactor(name)
	return f
}

// find returns the mag above with the factor of a mag below. It returns nil if there is none.
func (l *Layer) find(name string, below volume.Mag) (volume.Mag, error) {
	factor := factorOf(name, below)
	names, err := l.above.Mags()
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		m, err := l.above.Mag(n)
		if err != nil {
			return nil, err
		}
		if factorOf(n, m) == factor {
			return m, nil
		}
	}
	return nil, nil
}

// isEmpty reports whether the layer above has no block at all. A mag that cannot be listed may have some.
func (l *Layer) isEmpty() bool {
	names, err := l.above.Mags()
	if err != nil {
		return false
	}
	for _, n := range names {
		m, err := l.above.Mag(n)
		if err != nil {
			return false
		}
		for range volume.AllCubes(m) {
			return false
		}
	}
	return true
}

// Mags returns the names of the mags that both layers have.
func (l *Layer) Mags() ([]string, error) {
	names, err := l.Layer.Mags()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		_, err := l.Mag(name)
		return err != nil && errors.Is(err, errOnlyBelow)
	}), nil
}

// errOnlyBelow is the error for a mag that the layer above lacks. Its blocks below would not show what was painted.
var errOnlyBelow = errors.New("the mag is not in the annotation")

// Mag returns a mag of both layers.
func (l *Layer) Mag(name string) (volume.Mag, error) {
	below, err := l.Layer.Mag(name)
	if err != nil {
		return nil, err
	}
	above, err := l.find(name, below)
	switch {
	case err != nil:
		return nil, err
	case above == nil && l.isEmpty():
		return below, nil
	case above == nil:
		return nil, &omittedError{name}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.mags[name]
	if m == nil || m.Mag != below || m.above != above {
		m = NewMag(below, above)
		l.mags[name] = m
	}
	return m, nil
}

// Omitted lists the mags that only one of the layers has.
func (l *Layer) Omitted() (all []volume.Omission) {
	for _, layer := range []volume.Layer{l.Layer, l.above} {
		if o, ok := layer.(volume.Omitter); ok {
			all = append(all, o.Omitted()...)
		}
	}
	names, _ := l.Layer.Mags() // callers list them, too
	var factors []volume.Factor
	for _, name := range names {
		m, err := l.Layer.Mag(name)
		if err != nil {
			continue
		}
		factors = append(factors, factorOf(name, m))
		if _, err := l.Mag(name); errors.Is(err, errOnlyBelow) {
			all = append(all, volume.Omission{Name: name,
				Reason: errOnlyBelow.Error() + ": it would not show what was painted"})
		}
	}
	names, _ = l.above.Mags()
	for _, name := range names {
		if m, err := l.above.Mag(name); err == nil && !slices.Contains(factors, factorOf(name, m)) {
			all = append(all, volume.Omission{Name: name,
				Reason: "the mag is only in the annotation: there is nothing below it"})
		}
	}
	return all
}

// CheckMetadata implements [volume.MetadataChecker].
func (l *Layer) CheckMetadata() (all []error) {
	for _, layer := range []volume.Layer{l.Layer, l.above} {
		if c, ok := layer.(volume.MetadataChecker); ok {
			all = append(all, c.CheckMetadata()...)
		}
	}
	return all
}

// omittedError is the error for a mag that only the layer below has. For callers there is no such mag.
type omittedError struct{ mag string }

func (e *omittedError) Error() string   { return "mag " + e.mag + ": " + errOnlyBelow.Error() }
func (e *omittedError) Unwrap() []error { return []error{errOnlyBelow, fs.ErrNotExist} }
