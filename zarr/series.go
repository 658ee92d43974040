package zarr

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// resolutionArray is the array of a resolution, under the name of its mag. err is why it cannot be read.
type resolutionArray struct {
	name    string
	node    *node
	array   *chunked.Array
	options ArrayOptions
	err     error
}

// read reads the metadata of the array.
func (r *resolutionArray) read() {
	if r.err == nil {
		r.array, r.err = r.node.parse()
	}
}

// points returns what the array has on axes besides x, y, z and channels.
func (r *resolutionArray) points() ([]chunked.Point, error) {
	if r.err != nil {
		return nil, r.err
	}
	points, err := r.array.Series(r.options)
	return points, inFile(path.Join(r.node.dir, r.node.file), err)
}

// layersOf returns a layer for each point of the arrays, such as each time, named by the point. If there are no axes besides x, y, z and
// channels, it is one without a name. An array that cannot be read, or that does not have the points of the finest one, is omitted.
func layersOf(l chunked.Layer, arrays []resolutionArray) ([]chunked.NamedLayer, error) {
	var points []chunked.Point
	var usable []resolutionArray
	for _, r := range arrays {
		own, err := r.points()
		if err == nil && points == nil {
			points = own
		}
		samePoint := func(a, b chunked.Point) bool { return a.Name == b.Name }
		if err == nil && !slices.EqualFunc(own, points, samePoint) {
			err = fmt.Errorf("expected the axes of the finest resolution besides x, y, z and channels, which give %d volumes, found %d", len(points), len(own))
		}
		if err == nil && slices.ContainsFunc(usable, func(other resolutionArray) bool { return other.name == r.name }) {
			err = errors.New("path: another resolution has this name")
		}
		if err != nil {
			l.Left = append(l.Left, volume.Omission{Name: jsonlimit.Abbreviate(r.name), Reason: err.Error()})
			continue
		}
		usable = append(usable, r)
	}
	var all []chunked.NamedLayer
	left := l.Left
	for _, p := range points {
		at := l
		at.Left = slices.Clone(left)
		for _, r := range usable {
			r.options.Index = p.Index
			mag, err := r.node.newMag(r.array, r.options)
			if err != nil {
				at.Left = append(at.Left, volume.Omission{Name: jsonlimit.Abbreviate(r.name), Reason: err.Error()})
				continue
			}
			at.List = append(at.List, chunked.NamedMag{Name: r.name, Mag: mag})
		}
		if len(at.List) == 0 {
			left = at.Left
			continue
		}
		all = append(all, chunked.NamedLayer{Name: p.Name, Layer: &at})
	}
	if len(all) == 0 {
		return nil, noResolution{left}
	}
	return all, nil
}

// noResolution is the error if nothing can be read.
type noResolution struct{ left []volume.Omission }

func (e noResolution) Error() string {
	return "no resolution can be read" + chunked.Reasons(e.left)
}

// addAll adds layers under a name, such as NAME/t0000.
func (s *searching) addAll(name string, layers []chunked.NamedLayer) {
	for _, l := range layers {
		s.Add(path.Join(name, l.Name), l.Layer)
	}
}
