package chunked

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// Resolution is an array that is a mag of each point of a series.
type Resolution struct {
	Name string                                // of the mag
	List func() ([]Point, error)               // what [Array.Series] returns for the array, or why it cannot be read
	Open func(index []int) (volume.Mag, error) // opens the mag of a point
}

// Series returns a layer for each point of the arrays, such as each time, named by the point. l has what the layers
// share. If there are no axes besides x, y, z and channels, it is one without a name. An array that cannot be read, or
// that does not have the points of the finest one, is omitted. If there is no layer, the error is a [NoResolution].
func (l Layer) Series(arrays []Resolution) ([]NamedLayer, error) {
	var points []Point
	var usable []Resolution
	for _, r := range arrays {
		own, err := r.List()
		if err == nil && points == nil {
			points = own
		}
		samePoint := func(a, b Point) bool { return a.Name == b.Name }
		if err == nil && !slices.EqualFunc(own, points, samePoint) {
			err = fmt.Errorf(
				"expected the axes of the finest resolution besides x, y, z and channels, which give %d volumes, found %d", len(points), len(own))
		}
		if err == nil && slices.ContainsFunc(usable, func(other Resolution) bool { return other.Name == r.Name }) {
			err = errors.New("path: another resolution has this name")
		}
		if err != nil {
			l.Left = append(l.Left, omission(r, err))
			continue
		}
		usable = append(usable, r)
	}
	var all []NamedLayer
	left := l.Left
	for _, p := range points {
		at := l
		at.Left = slices.Clone(l.Left)
		for _, r := range usable {
			mag, err := r.Open(p.Index)
			if err != nil {
				at.Left = append(at.Left, omission(r, err))
				continue
			}
			at.List = append(at.List, NamedMag{Name: r.Name, Mag: mag})
		}
		if len(at.List) == 0 {
			left = at.Left
			continue
		}
		all = append(all, NamedLayer{Name: p.Name, Layer: &at})
	}
	if len(all) == 0 {
		return nil, NoResolution{left}
	}
	return all, nil
}

func omission(r Resolution, err error) volume.Omission {
	return volume.Omission{Name: jsonlimit.Abbreviate(r.Name), Reason: err.Error()}
}

// NoResolution is the error if no array of a layer can be read.
type NoResolution struct{ Left []volume.Omission }

func (e NoResolution) Error() string { return "no resolution can be read" + Reasons(e.Left) }

// AddAll adds layers under a name, such as NAME/t0000.
func (d *Dataset) AddAll(name string, layers []NamedLayer) {
	for _, l := range layers {
		d.Add(path.Join(name, l.Name), l.Layer)
	}
}
