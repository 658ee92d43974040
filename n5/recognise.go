package n5

import (
	"errors"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/volume"
)

// attributesFile has the metadata of an array or a group.
const attributesFile = "attributes.json"

// ErrNotRecognised is the error of [Recognise] for what is neither an array nor a group.
var ErrNotRecognised = errors.New("not an N5 array or group")

// ArrayOptions say how an array is shown: with the axes, the box and the size of a voxel that metadata outside of the
// array give it. All fields are optional.
type ArrayOptions = chunked.Options

// Recognise opens the array or the group in directory name of fsys, which must have an attributes.json. The Mag of an
// array has its own description. An array with times is a Dataset with a layer for each, t0000 and so on. Arrays s0,
// s1, … of a group are the mags of a Layer, under these names. Other groups are a Dataset of the arrays below them.
// What cannot be read is omitted, and the Layer or Dataset is a [volume.Omitter] that lists the reasons.
//
// The files of fsys must be an [io.ReaderAt]. Recognise returns [ErrNotRecognised] if there are no attributes, or if
// they are those of another format. It returns another error if they cannot be read, or if nothing that they describe
// can.
func Recognise(fsys fs.FS, name string) (volume.Root, error) {
	n, err := chunked.ReadRoot(fsys, name, readNode, ErrNotRecognised)
	if err != nil {
		return volume.Root{}, err
	}
	if n.isArray() && !n.isSeries() {
		m, err := n.mag(n.options())
		if err != nil {
			return volume.Root{}, err
		}
		return volume.Root{Mag: m}, nil
	}
	s := &searching{Dataset: chunked.Dataset{FS: fsys, Dir: name}}
	if err := s.add(n, "", 0); err != nil {
		return volume.Root{}, err
	}
	return s.Root(n.file())
}

// OpenArray opens the array in directory dir of fsys. If there are no attributes, the error is fs.ErrNotExist. A group
// is an error.
func OpenArray(fsys fs.FS, dir string, o ArrayOptions) (volume.Mag, error) {
	n, err := readNode(fsys, dir)
	if err != nil {
		return nil, err
	}
	return n.mag(o)
}

// ListPoints returns what the array in directory dir of fsys has on axes besides x, y, z and channels, such as t0000
// and t0001: each is a volume, which Point of [ArrayOptions] names. An array without such axes is one volume, named "".
func ListPoints(fsys fs.FS, dir string, o ArrayOptions) ([]string, error) {
	n, err := readNode(fsys, dir)
	if err != nil {
		return nil, err
	}
	points, err := n.resolutionOf("", o).List()
	return chunked.NamesOf(points), err
}

// node is an array or a group.
type node struct {
	fsys  fs.FS
	dir   string
	attrs object // nil for a group without attributes
}

// readNode reads the attributes of a directory. If there are none, the error is fs.ErrNotExist.
func readNode(fsys fs.FS, dir string) (*node, error) {
	attrs, err := chunked.ReadObject(fsys, path.Join(dir, attributesFile))
	return &node{fsys, dir, attrs}, err
}

func (n *node) file() string { return path.Join(n.dir, attributesFile) }

// isArray reports whether the attributes are those of an array.
func (n *node) isArray() bool { return n.attrs.Has("dimensions") || n.attrs.Has("blockSize") }

// mag opens an array.
func (n *node) mag(o ArrayOptions) (volume.Mag, error) {
	a, err := parseArray(n.attrs)
	if err != nil {
		return nil, chunked.InFile(n.file(), err)
	}
	return n.newMag(a, o)
}

// newMag returns an array that the node has.
func (n *node) newMag(a *chunked.Array, o ArrayOptions) (volume.Mag, error) {
	o.StatMetadata = chunked.StatFiles(o.StatMetadata, n.fsys, n.file())
	m, err := chunked.New(n.fsys, n.dir, a, o)
	if err != nil {
		return nil, chunked.InFile(n.file(), err)
	}
	return m, nil
}

// resolutionOf returns the array as a mag with a name, of each of its times.
func (n *node) resolutionOf(name string, o ArrayOptions) chunked.Resolution {
	a, err := parseArray(n.attrs)
	return chunked.Resolution{
		Name: name,
		List: func() (points []chunked.Point, _ error) {
			if err == nil {
				points, err = a.Series(o)
			}
			return points, chunked.InFile(n.file(), err)
		},
		Open: func(index []int) (volume.Mag, error) {
			o := o
			o.Index = index
			return n.newMag(a, o)
		},
	}
}

// isSeries reports whether the array is several volumes, such as one for each time.
func (n *node) isSeries() bool {
	points, err := n.resolutionOf("1", ArrayOptions{}).List()
	return err == nil && len(points) > 1
}
