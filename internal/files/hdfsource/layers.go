package hdfsource

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/volume"
)

// layer is one or several datasets as a layer.
type layer struct {
	*source
	names []string // of the mags
	mags  []*mag
}

var _ volume.Layer = (*layer)(nil)

// Mags returns the names of the mags.
func (l *layer) Mags() ([]string, error) { return slices.Clone(l.names), nil }

// Mag returns the mag with a name.
func (l *layer) Mag(name string) (volume.Mag, error) {
	i := slices.Index(l.names, name)
	if i < 0 {
		return nil, fmt.Errorf("mag %s: %w", name, fs.ErrNotExist)
	}
	return l.mags[i], nil
}

// add adds a mag with a factor. One with the factor of another mag is left out.
func (l *layer) add(m *mag, factor volume.Factor) {
	m.about.Factor = factor
	if name := factor.String(); !slices.Contains(l.names, name) {
		l.names, l.mags = append(l.names, name), append(l.mags, m)
	}
}

// errNoVolume is the error of a dataset that is no volume, but a table or a text.
var errNoVolume = errors.New("no volume")

// mag returns a dataset as a mag.
func (t *tree) mag(d *hdf5.Dataset, named axisNames, p position, pieceBytes int) (*mag, error) {
	m := &mag{source: t.source, path: path.Join("/", d.Path())}
	var err error
	if m.values, err = valuesOf(d.Type()); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoVolume, err)
	}
	if m.axes, err = axesOf(d.Shape(), named.names); err != nil {
		return nil, err
	}
	if err := d.Readable(); err != nil {
		return nil, t.located(err)
	}
	piece, err := shapeOf(d, pieceBytes)
	if err != nil {
		return nil, t.located(err)
	}
	shape := d.Shape()
	g := volume.Grid{Size: volume.Cube(1), Block: volume.Cube(1), Type: m.values.kind, Channels: 1}
	for axis, i := range m.axes.space {
		if i >= 0 {
			g.Size[axis], g.Block[axis] = int(shape[i]), piece[i]
		}
	}
	if m.axes.channel >= 0 {
		if n := shape[m.axes.channel]; n > maxChannels {
			return nil, fmt.Errorf("%d channels: expected at most %d", n, maxChannels)
		}
		g.Channels = int(shape[m.axes.channel])
	}
	t.coordinates(d, m.axes, &p)
	g.Spacing, g.Origin = p.spacing, p.origin()
	if err := g.Validate(); err != nil {
		return nil, err
	}
	m.times, m.together = 1, 1
	if i := m.axes.time; i >= 0 {
		if shape[i] > maxTimes {
			return nil, fmt.Errorf("%d times: expected at most %d", shape[i], maxTimes)
		}
		m.times, m.together = int(shape[i]), piece[i]
	}
	m.grid = g
	m.about = volume.About{Factor: volume.Factor{1, 1, 1}, Compression: compressionOf(d),
		Assumed: assumed(named, m.axes, p)}
	return m, nil
}

const maxChannels = 1 << 12

// compressionOf names the filters of a dataset.
func compressionOf(d *hdf5.Dataset) string {
	var names []string
	for _, f := range d.Filters() {
		names = append(names, f.Name)
	}
	return cmp.Or(strings.Join(names, ", "), "raw")
}

// axesOf returns which axes of a shape are x, y, z, channels and times. Without names, three axes of more than one
// value are z, y, x.
func axesOf(shape []uint64, names []string) (a axes, err error) {
	a = noAxes
	var several []int
	for i, n := range shape {
		if n == 0 {
			return a, fmt.Errorf("%w: it has no values", errNoVolume)
		}
		if n > 1 {
			several = append(several, i)
		}
	}
	if names == nil {
		return unnamedAxes(shape, several)
	}
	for i, name := range names {
		if axis := strings.Index("xyz", name); len(name) == 1 && axis >= 0 {
			a.space[axis] = i
		} else if shape[i] > 1 && name == "c" {
			a.channel = i
		} else if shape[i] > 1 && name == "t" {
			a.time = i
		} else if shape[i] > 1 {
			return a, fmt.Errorf("the axis %q has %d values: expected axes x, y, z, c and t", name, shape[i])
		}
	}
	if a.space[0] < 0 || a.space[1] < 0 {
		return a, fmt.Errorf("axes %v: expected x and y", names)
	}
	return a, nil
}

// unnamedAxes is axesOf without names. several are the axes of more than one value.
func unnamedAxes(shape []uint64, several []int) (a axes, err error) {
	a = noAxes
	rank := len(shape)
	switch {
	case len(several) > 3:
		return a, fmt.Errorf("the shape %v has %d axes without names: expected at most three of more than one value",
			shape, len(several))
	case rank == 2 && min(shape[0], shape[1]) <= 3, rank < 2:
		return a, fmt.Errorf("%w: a table of the shape %v", errNoVolume, shape)
	case rank <= 3: // z, y, x or y, x
		for i := range rank {
			a.space[i] = rank - 1 - i
		}
		return a, nil
	}
	// Axes of one value are left out, those nearest to the front first, until three remain.
	kept := slices.Clone(several)
	for i := rank - 1; i >= 0 && len(kept) < 3; i-- {
		if !slices.Contains(kept, i) {
			kept = append(kept, i)
		}
	}
	slices.Sort(kept)
	for axis := range 3 {
		a.space[axis] = kept[2-axis]
	}
	return a, nil
}

// levelName is the name of a level of a pyramid.
var levelName = regexp.MustCompile(`^s(\d+)$`)

// pyramids groups datasets that are levels of one pyramid, such as raw/s0 and raw/s1, under the path of their group.
// Others are under their own path.
func pyramids(all []*hdf5.Dataset) (paths []string, byPath map[string][]*hdf5.Dataset) {
	byPath = map[string][]*hdf5.Dataset{}
	for _, d := range all {
		at := path.Join("/", d.Path())
		if levelName.MatchString(path.Base(at)) && path.Dir(at) != "/" {
			at = path.Dir(at)
		}
		if byPath[at] == nil {
			paths = append(paths, at)
		}
		byPath[at] = append(byPath[at], d)
	}
	return paths, byPath
}

// layerName returns the name of a layer by its path in the file.
func layerName(at string) string { return strings.ReplaceAll(strings.Trim(at, "/"), "/", "_") }

// factorOf returns how many voxels of a finer grid a voxel of a coarser one has on each axis, at least 1.
func factorOf(fine, coarse volume.Grid) (f volume.Factor) {
	for axis := range 3 {
		f[axis] = max(1, (fine.Size[axis]+coarse.Size[axis]/2)/coarse.Size[axis])
		if a, b := fine.Spacing[axis], coarse.Spacing[axis]; a > 0 && b > a {
			f[axis] = int(b/a + 0.5)
		}
	}
	return f
}

// plain shows the layers of a file without a convention of its own.
func (t *tree) plain(pieceBytes int) {
	root, err := t.file.Root()
	xyz := err == nil && text(root, "n5") != ""
	paths, byPath := pyramids(t.datasets)
	taken := map[string]bool{}
	for _, at := range paths {
		l := &layer{source: t.source}
		for _, d := range byPath[at] {
			m, err := t.mag(d, t.axisNames(d, xyz), t.position(d, xyz), pieceBytes)
			if err != nil {
				t.leaveOut(d.Path(), isDamage(err) && !isNoVolume(err), err)
				continue
			}
			if d.Null() || text(d, "CLASS") == "DIMENSION_SCALE" {
				continue
			}
			factor := volume.Factor{1, 1, 1}
			if len(l.mags) > 0 {
				factor = factorOf(l.mags[0].grid, m.grid)
				if n := l.mags[0].times; m.times != n {
					t.leaveOut(d.Path(), false, fmt.Errorf("times: expected %d, as the finest level has, found %d", n,
						m.times))
					continue
				}
			}
			l.add(m, factor)
		}
		if name := layerName(at); len(l.mags) > 0 && !taken[name] {
			taken[name] = true
			t.showTimes(name, l)
		}
	}
}

// isNoVolume reports whether an error is about a dataset that is no volume.
func isNoVolume(err error) bool { return errors.Is(err, errNoVolume) }
