package webknossos

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// Opener opens a mag of another data format in directory dir of fsys. If there is none, the error is fs.ErrNotExist. A
// mag that cannot be opened is left out of its layer, which reports the error.
type Opener func(fsys fs.FS, dir string, m MagOptions) (volume.Mag, error)

// PointLister returns the names of the volumes in an array with other axes than x, y, z and channels, such as t0000 and
// t0001. They are paths. An array without such axes has one, named "".
type PointLister func(fsys fs.FS, dir string, m MagOptions) ([]string, error)

// MagOptions is what the metadata of a dataset say about a mag.
type MagOptions struct {
	Factor       volume.Factor
	Layer        *LayerProperties
	Mag          MagProperties        // zero if the metadata do not have it
	Scale        Scale                // of mag 1
	StatMetadata func() []fs.FileInfo // describes the metadata file
	Point        string               // of an array that has several volumes: the one that is a mag of the layer
}

// Bounds returns the bounding box of the layer in voxels of the mag. It is nil if there is none.
func (m MagOptions) Bounds() *volume.Box {
	if box, ok := m.Layer.box(m.Factor); ok {
		return &box
	}
	return nil
}

// Spacing returns the size of a voxel in nm. An axis that is not known is 0.
func (m MagOptions) Spacing() (s [3]float64) {
	for axis := range 3 {
		s[axis] = m.Scale[axis] * float64(m.Factor[axis])
	}
	return s
}

// maxAxes limits the axes of an array.
const maxAxes = 16

// Axes returns the names of the axes of the array, such as c, x, y, z, in their order. Axes that are not named are "".
// It returns nil if the metadata do not have them.
func (m MagOptions) Axes() ([]string, error) {
	members, err := jsonlimit.Members(m.Mag.AxisOrder, maxAxes)
	if m.Mag.AxisOrder == nil || err == nil && len(members) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("axisOrder: %w", err)
	}
	var names []string
	for _, member := range members {
		at, ok := volume.ParseIndex(string(member.Value))
		if !ok || at >= maxAxes {
			return nil, fmt.Errorf("axisOrder: %s: expected a number from 0 to %d, found %s",
				jsonlimit.Abbreviate(member.Name), maxAxes-1, jsonlimit.Abbreviate(member.Value))
		}
		for len(names) <= at {
			names = append(names, "")
		}
		names[at] = member.Name
	}
	return names, nil
}

// Channels returns the first channel of the array that the layer shows, and how many. A count of 0 means all.
func (m MagOptions) Channels() (first, count int) {
	if m.Mag.ChannelIndex == nil {
		return 0, 0
	}
	return *m.Mag.ChannelIndex, max(m.Layer.NumChannels, 1)
}

// isMag reports whether there is a mag at a location. A mag of another format must be one that can be opened.
func (l *layer) isMag(at location) bool {
	if l.opener == nil {
		return isMag(at.fsys, at.dir)
	}
	_, err := l.open(at)
	return err == nil
}

// open opens a mag of another format. It opens each mag once.
func (l *layer) open(at location) (volume.Mag, error) {
	key := path.Join(at.path, at.dir)
	l.openedMu.Lock()
	defer l.openedMu.Unlock()
	if m, ok := l.opened[key]; ok {
		return m, nil
	}
	m, err := l.opener(at.fsys, at.dir, l.magOptions(at))
	if err != nil {
		if at.path != "" {
			err = fmt.Errorf("%s: %w", jsonlimit.Abbreviate(at.path), err)
		}
		return nil, err
	}
	l.opened[key] = m
	return m, nil
}

// magOptions returns what the metadata say about a mag.
func (l *layer) magOptions(at location) MagOptions {
	o := MagOptions{Factor: at.factor, Layer: l.props, Mag: at.props, Scale: l.scale, Point: l.point}
	if l.root == "" {
		return o
	}
	o.StatMetadata = func() []fs.FileInfo {
		info, err := l.statProperties()
		if err != nil {
			return nil
		}
		return []fs.FileInfo{info}
	}
	return o
}

// points returns the names of the volumes in the arrays of the layer: those of the first mag that can be read. It
// returns none if that is one volume.
func (l *layer) points() []string {
	list := l.o.Points[l.props.DataFormat]
	if l.opener == nil || list == nil {
		return nil
	}
	for _, m := range l.described {
		places := []location{{fsys: l.fsys, dir: path.Join(l.dir, l.nameOf(m)), factor: m.Factor(), props: m}}
		if at, ok := l.locationOf(m); ok {
			places = []location{at, places[0]}
		}
		for _, at := range places {
			if points, err := list(at.fsys, at.dir, l.magOptions(at)); err == nil {
				if len(points) < 2 {
					return nil
				}
				return points
			}
		}
	}
	return nil
}

// RecogniseForeign opens a layer or a mag of another data format by the metadata of its dataset, which [Options.Parent]
// returns. If the metadata do not have it, or if its format is not in [Options.Formats], the error is ErrNotRecognised.
func RecogniseForeign(fsys fs.FS, name string, o Options) (volume.Root, error) {
	if o.Parent == nil {
		return volume.Root{}, ErrNotRecognised
	}
	if l := foreignLayer(fsys, name, o.Parent(1), o); l != nil {
		if found, _ := l.hasMag(); found {
			return volume.Root{Layer: l}, nil
		}
	}
	factor, ok := volume.ParseFactor(o.Name)
	if !ok {
		return volume.Root{}, ErrNotRecognised
	}
	l := foreignLayer(fsys, name, o.Parent(2), o)
	if l == nil {
		return volume.Root{}, ErrNotRecognised
	}
	at := location{fsys: fsys, dir: name, factor: factor}
	for _, m := range l.described {
		if m.Factor() == factor {
			at.props = m
		}
	}
	m, err := l.open(at)
	if err != nil {
		return volume.Root{}, err
	}
	return volume.Root{Mag: m}, nil
}

// foreignLayer returns a layer of another format that is in the metadata of a dataset, or nil.
func foreignLayer(fsys fs.FS, dir string, parent Parent, o Options) *layer {
	props := parent.Properties.layer(parent.Layer)
	if props == nil || props.isWKW() {
		return nil
	}
	if l := newLayer(fsys, dir, "", props, parent.Properties.scale(), o); l.opener != nil {
		return l
	}
	return nil
}
