package zarr

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

const (
	// maxGroupDepth limits the groups in groups that are searched for arrays.
	maxGroupDepth = 4
	maxNodes      = chunked.MaxNodes
)

// labelsDir is the group with the labels of an image (OME-Zarr, "labels" metadata).
const labelsDir = "labels"

// group opens all images, arrays and plates of a group. An image without labels is a layer without a name, if it is the
// only one.
func (n *node) group() (*plates, error) {
	s := &searching{plates: plates{Dataset: &chunked.Dataset{FS: n.fsys, Dir: n.dir}}}
	if err := s.add(n, "", 0); err != nil {
		return nil, err
	}
	s.omitHidden()
	return &s.plates, nil
}

// searching is a search for images, arrays and plates.
type searching struct {
	plates
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
	switch p, err := n.plate(); {
	case err != nil:
		return inFile(path.Join(n.dir, n.file), err)
	case p != nil:
		s.plates.add(name, p)
		return nil
	}
	all, err := images(n.ome())
	if err != nil {
		return inFile(path.Join(n.dir, n.file), err)
	}
	if len(all) > 0 {
		return s.addImages(n, all, name)
	}
	return s.addGroup(n, name, depth)
}

// addImages adds the images of a group and their labels. Usually there is one image.
func (s *searching) addImages(n *node, all []object, name string) error {
	labels := n.labels()
	for i, o := range all {
		m, err := parseMultiscale(o)
		var layers []chunked.NamedLayer
		if err == nil {
			layers, err = n.image(m, "color")
		} else {
			err = inFile(path.Join(n.dir, n.file), err)
		}
		if err != nil && len(all) == 1 && len(labels) == 0 {
			return err
		}
		own := name
		if i > 0 || name == "" && len(all)+len(labels) > 1 {
			own = chunked.Join(name, imageName(m, i))
		}
		if err != nil {
			s.Omit(own, err)
			continue
		}
		s.AddAll(own, layers)
	}
	for _, label := range labels {
		s.addLabel(n, chunked.Join(name, label), path.Join(n.dir, labelsDir, label))
	}
	return nil
}

// imageName returns the name of image i of a group.
func imageName(m *multiscale, i int) string {
	switch {
	case m != nil && plainName(m.name):
		return m.name
	case i == 0:
		return "image"
	}
	return fmt.Sprintf("image%d", i+1)
}

// addLabel adds the labels in a directory. Labels of the source itself have their own name.
func (s *searching) addLabel(image *node, name, dir string) {
	if s.Dir == image.dir {
		name = path.Base(dir)
	}
	n, err := readNode(image.fsys, dir)
	var layers []chunked.NamedLayer
	if err == nil {
		layers, err = n.label()
	}
	if err != nil {
		s.Omit(name, err)
		return
	}
	s.AddAll(name, layers)
}

// label opens the first image of a group of labels.
func (n *node) label() ([]chunked.NamedLayer, error) {
	all, err := images(n.ome())
	if err == nil && len(all) == 0 {
		err = errors.New("no multiscales")
	}
	if err != nil {
		return nil, err
	}
	m, err := parseMultiscale(all[0])
	if err != nil {
		return nil, inFile(path.Join(n.dir, n.file), err)
	}
	return n.image(m, "segmentation")
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

// addGroup adds what is in the directories of a group. If they are arrays with the names of factors, such as 1 and
// 2-2-1, they are the mags of one layer.
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
	if isLayer &&
		slices.ContainsFunc(names,
			func(child string) bool { f, _ := volume.ParseFactor(child); return f == volume.Factor{1, 1, 1} }) {
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
	l := chunked.Layer{FS: n.fsys, Dir: n.dir}
	var all []resolutionArray
	for i, a := range arrays {
		factor, _ := volume.ParseFactor(names[i])
		r := resolutionArray{name: names[i], node: a, options: ArrayOptions{Factor: factor}}
		r.read()
		all = append(all, r)
	}
	layers, err := layersOf(l, all)
	if none, ok := errors.AsType[chunked.NoResolution](err); ok {
		return errors.New(none.Left[0].Reason)
	}
	for _, at := range layers {
		at.Layer.(*chunked.Layer).Sort()
	}
	s.AddAll(name, layers)
	return nil
}

// plainName reports whether a name can be that of a directory entry.
func plainName(name string) bool {
	const maxName = 255
	_, err := magName(name)
	return err == nil && len(name) <= maxName && path.Base(name) == name
}
