package zarr

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/wkwfs/wkwfs/internal/chunked"
	"github.com/wkwfs/wkwfs/internal/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

const (
	// maxGroupDepth limits the groups in groups that are searched for arrays.
	maxGroupDepth = 4
	maxNodes      = chunked.MaxNodes
)

// labelsDir is the group with the labels of an image (OME-Zarr, "labels" metadata).
const labelsDir = "labels"

// group opens all images and arrays of a group. An image without labels is a layer without a name, if it is the only one.
func (n *node) group() (*chunked.Dataset, error) {
	s := &searching{Dataset: chunked.Dataset{FS: n.fsys, Dir: n.dir}}
	if err := s.add(n, "", 0); err != nil {
		return nil, err
	}
	return &s.Dataset, nil
}

// searching is a search for images and arrays.
type searching struct {
	chunked.Dataset
	nodes int
}

// add adds what is in a node under a name. The name of the source is "".
func (s *searching) add(n *node, name string, depth int) error {
	if s.nodes++; s.nodes > maxNodes {
		return errors.New("more than 1,000 arrays and groups")
	}
	if n.isArray {
		return s.addArrays(n, name, []*node{n}, []string{"1"})
	}
	m, err := parseMultiscale(n.ome())
	if err != nil {
		return inFile(path.Join(n.dir, n.file), err)
	}
	if m != nil {
		return s.addImage(n, m, name)
	}
	return s.addGroup(n, name, depth)
}

// addImage adds an image and its labels.
func (s *searching) addImage(n *node, m *multiscale, name string) error {
	l, err := n.image(m, "color")
	if err != nil {
		return err
	}
	labels := n.labels()
	if name == "" && len(labels) > 0 {
		if name = "image"; plainName(m.name) {
			name = m.name
		}
	}
	s.Add(name, l)
	for _, label := range labels {
		s.addLabel(n, chunked.Join(name, label), path.Join(n.dir, labelsDir, label))
	}
	return nil
}

// addLabel adds the labels in a directory. Labels of the source itself have their own name.
func (s *searching) addLabel(image *node, name, dir string) {
	if s.Dir == image.dir {
		name = path.Base(dir)
	}
	n, err := readNode(image.fsys, dir)
	var m *multiscale
	if err == nil {
		m, err = parseMultiscale(n.ome())
	}
	if err == nil && m == nil {
		err = errors.New("no multiscales")
	}
	var l *chunked.Layer
	if err == nil {
		l, err = n.image(m, "segmentation")
	}
	if err != nil {
		s.Omit(name, err)
		return
	}
	s.Add(name, l)
}

// labels returns the directories of the labels of an image: those in the metadata, or else those that exist.
func (n *node) labels() []string {
	dir := path.Join(n.dir, labelsDir)
	group, err := readNode(n.fsys, dir)
	if err != nil {
		return nil
	}
	names, err := jsonlimit.List[string](orNull(group.ome()["labels"]), maxNodes, "labels")
	if err != nil || len(names) == 0 {
		names = nil
		for child := range chunked.Subdirs(n.fsys, dir) {
			names = append(names, child)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !plainName(name) })
}

// addGroup adds what is in the directories of a group. If they are arrays with the names of factors, such as 1 and 2-2-1,
// they are the mags of one layer.
func (s *searching) addGroup(n *node, name string, depth int) error {
	if depth == maxGroupDepth {
		return errors.New("groups that are nested too deeply are not searched")
	}
	var nodes []*node
	var names []string
	isLayer := true
	for child := range chunked.Subdirs(n.fsys, n.dir) {
		c, err := readNode(n.fsys, path.Join(n.dir, child))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			s.Omit(chunked.Join(name, child), err)
			continue
		}
		_, isFactor := volume.ParseFactor(child)
		isLayer = isLayer && isFactor && c.isArray
		if nodes, names = append(nodes, c), append(names, child); len(nodes) > maxNodes {
			return errors.New("more than 1,000 arrays and groups")
		}
	}
	if isLayer && slices.ContainsFunc(names, func(child string) bool { f, _ := volume.ParseFactor(child); return f == volume.Factor{1, 1, 1} }) {
		return s.addArrays(n, name, nodes, names)
	}
	for i, c := range nodes {
		if err := s.add(c, chunked.Join(name, names[i]), depth+1); err != nil {
			s.Omit(chunked.Join(name, names[i]), err)
		}
	}
	return nil
}

// addArrays adds arrays as the mags of one layer. The names are factors.
func (s *searching) addArrays(n *node, name string, arrays []*node, names []string) error {
	l := &chunked.Layer{FS: n.fsys, Dir: n.dir}
	for i, a := range arrays {
		factor, _ := volume.ParseFactor(names[i])
		m, err := a.mag(ArrayOptions{Factor: factor})
		if err != nil {
			l.Left = append(l.Left, volume.Omission{Name: names[i], Reason: err.Error()})
			continue
		}
		l.List = append(l.List, chunked.NamedMag{Name: names[i], Mag: m})
	}
	if len(l.List) == 0 {
		return errors.New(l.Left[0].Reason)
	}
	l.Sort()
	s.Add(name, l)
	return nil
}

// plainName reports whether a name can be that of a directory entry.
func plainName(name string) bool {
	const maxName = 255
	_, err := magName(name)
	return err == nil && len(name) <= maxName && path.Base(name) == name
}
