package n5

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/volume"
)

// maxGroupDepth limits the groups in groups that are searched for arrays.
const maxGroupDepth = 5

// searching is a search for arrays.
type searching struct {
	chunked.Dataset
	nodes int
}

// add adds what is in a node under a name. The name of the source is "".
func (s *searching) add(n *node, name string, depth int) error {
	if s.nodes++; s.nodes > chunked.MaxNodes {
		return errors.New("more than 1,000 arrays and groups")
	}
	if depth > maxGroupDepth {
		return errors.New("groups that are nested too deeply are not searched")
	}
	if n.isArray() {
		return s.addLayer(n, name, []*level{{name: "1", node: n, factor: volume.Factor{1, 1, 1}}})
	}
	var levels []*level
	var others []string
	for child := range chunked.Subdirs(n.fsys, n.dir) {
		c, err := readNode(n.fsys, path.Join(n.dir, child))
		if l := newLevel(child, c); l != nil && err == nil {
			levels = append(levels, l)
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.Omit(chunked.Join(name, child), err)
			continue
		}
		others = append(others, child)
	}
	if len(levels) > 0 {
		if err := s.addLayer(n, name, levels); err != nil {
			s.Omit(name, err)
		}
	}
	for _, child := range others {
		c, _ := readNode(n.fsys, path.Join(n.dir, child)) // a group need not have attributes
		c.inherit(n)
		if err := s.add(c, chunked.Join(name, child), depth+1); err != nil {
			s.Omit(chunked.Join(name, child), err)
		}
	}
	return nil
}

// level is an array of a group of resolutions.
type level struct {
	name   string
	number int // of s0, s1, …
	node   *node
	factor volume.Factor // that the name says; zero for s0, s1, …
}

// newLevel returns the level for an array in a directory with a name: s0, or a factor such as 2-2-1. It returns nil if
// it is something else.
func newLevel(name string, n *node) *level {
	if !n.isArray() {
		return nil
	}
	if digits, ok := strings.CutPrefix(name, "s"); ok {
		if number, ok := volume.ParseIndex(digits); ok {
			return &level{name: name, number: number, node: n}
		}
	}
	if f, ok := volume.ParseFactor(name); ok {
		return &level{name: name, number: f[0] * f[1] * f[2], node: n, factor: f}
	}
	return nil
}

// place returns where the voxels of a level are, and its factor. If the metadata do not tell how coarse it is, its name
// or the sizes of the arrays do.
func (l *level) place(group, first *node) ArrayOptions {
	finest, _ := first.transform(group, first)
	t, isOwn := l.node.transform(group, first)
	factor := l.factor
	if factor == (volume.Factor{}) && isOwn && hasUnits(t) == hasUnits(finest) {
		factor = t.Factor(finest)
	} else if factor == (volume.Factor{}) {
		factor = chunked.FactorOfSizes(first.size(), l.node.size())
	}
	switch {
	case !isOwn:
		t = t.Coarser(factor)
	case hasUnits(t) != hasUnits(finest): // they cannot be compared
		finest = t
	}
	return ArrayOptions{Factor: factor, Spacing: t.Spacing(), Origin: t.Origin(finest)}
}

// hasUnits reports on which axes the unit is known.
func hasUnits(t chunked.Transform) (known [3]bool) {
	for axis, unit := range t.Unit {
		known[axis] = unit > 0
	}
	return known
}

// size returns the size of an array in voxels. It is zero if the array cannot be read.
func (n *node) size() volume.Vec {
	m, err := n.mag(ArrayOptions{Index: []int{}}) // of the first time
	if err != nil {
		return volume.Vec{}
	}
	box, _ := m.Bounds() // of an array that is open, it does not fail
	return box.Size()
}

// addLayer adds arrays as the mags of one layer.
func (s *searching) addLayer(group *node, name string, levels []*level) error {
	slices.SortFunc(levels,
		func(a, b *level) int { return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name)) })
	var all []chunked.Resolution
	for _, at := range levels {
		o := at.place(group, levels[0].node)
		o.StatMetadata = chunked.StatFiles(nil, group.fsys, group.file())
		all = append(all, at.node.resolutionOf(at.name, o))
	}
	layers, err := chunked.Layer{FS: group.fsys, Dir: group.dir}.Series(all)
	if none, ok := errors.AsType[chunked.NoResolution](err); ok {
		return errors.New(none.Left[0].Reason)
	}
	s.AddAll(name, layers)
	return err
}
