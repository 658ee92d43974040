package zarr

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// The names of the metadata files.
const (
	metadataV3      = "zarr.json"
	arrayV2         = ".zarray"
	groupV2         = ".zgroup"
	attributesV2    = ".zattrs"
	arrayDimensions = "_ARRAY_DIMENSIONS" // names of axes in version 2, by xarray
)

// ErrNotRecognised is the error of [Recognise] for what is neither an array nor a group.
var ErrNotRecognised = errors.New("not a Zarr array or group")

// ArrayOptions say how an array is shown: with the axes, the box and the size of a voxel that metadata outside of the
// array give it. All fields are optional.
type ArrayOptions = chunked.Options

// Recognise opens the array or the group in directory name of fsys. It reads the metadata files of version 3, or else
// of version 2. The Mag of an array has its own description; the Layer of an OME-Zarr image has a mag for each
// resolution, under the name of its path. Other groups are a Dataset of the images and arrays below them. What cannot
// be read is omitted, and the Layer or Dataset is a [volume.Omitter] that lists the reasons.
//
// The files of fsys must be an [io.ReaderAt]. Recognise returns [ErrNotRecognised] if there are no metadata. It returns
// another error if the metadata cannot be read, or if nothing that they describe can.
func Recognise(fsys fs.FS, name string) (volume.Root, error) {
	n, err := chunked.ReadRoot(fsys, name, readNode, ErrNotRecognised)
	if err != nil {
		return volume.Root{}, err
	}
	return n.open()
}

// OpenArray opens the array in directory dir of fsys. If there is none, the error is fs.ErrNotExist. A group is an
// error.
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
	r := resolutionArray{node: n, options: o}
	r.read()
	points, err := r.points()
	return chunked.NamesOf(points), err
}

// node is a directory with metadata: an array or a group.
type node struct {
	fsys    fs.FS
	dir     string
	file    string // that describes the node, in dir
	members object // of that file
	isArray bool
	attrs   object // the attributes; nil if there are none
}

// readNode reads the metadata of a directory. If there are none, the error is fs.ErrNotExist.
func readNode(fsys fs.FS, dir string) (*node, error) {
	n := &node{fsys: fsys, dir: dir}
	for _, n.file = range []string{metadataV3, arrayV2, groupV2} {
		var err error
		if n.members, err = readObject(fsys, dir, n.file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = n.readKind()
		}
		if err != nil {
			return nil, err
		}
		return n, nil
	}
	return nil, &fs.PathError{Op: "open", Path: path.Join(dir, metadataV3), Err: fs.ErrNotExist}
}

// readKind reads whether the node is an array, and its attributes.
func (n *node) readKind() error {
	if n.file != metadataV3 {
		n.isArray = n.file == arrayV2
		var err error
		if n.attrs, err = readObject(n.fsys, n.dir, attributesV2); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	kind, err := text(n.members, "node_type")
	if err == nil && kind != "array" && kind != "group" {
		err = fmt.Errorf("node_type: expected array or group, found %q", jsonlimit.Abbreviate(kind))
	}
	if err == nil {
		n.isArray = kind == "array"
		err = n.members.Get("attributes", &n.attrs)
	}
	return inFile(path.Join(n.dir, n.file), err)
}

// mag opens an array.
func (n *node) mag(o ArrayOptions) (*chunked.Mag, error) {
	a, err := n.parse()
	if err != nil {
		return nil, err
	}
	return n.newMag(a, o)
}

// newMag returns an array that the node has.
func (n *node) newMag(a *chunked.Array, o ArrayOptions) (*chunked.Mag, error) {
	file := path.Join(n.dir, n.file)
	o.StatMetadata = chunked.StatFiles(o.StatMetadata, n.fsys, file)
	m, err := chunked.New(n.fsys, n.dir, a, o)
	if err != nil {
		return nil, inFile(file, err)
	}
	return m, nil
}

// parse parses the metadata of an array.
func (n *node) parse() (a *chunked.Array, err error) {
	file := path.Join(n.dir, n.file)
	switch {
	case !n.isArray:
		return nil, broken(file, "node", "an array", "a group")
	case n.file == metadataV3:
		a, err = parseV3(n.members)
	default:
		// other programs use the name, too
		names, _ := jsonlimit.List[string](orNull(n.attrs[arrayDimensions]), maxRank, "names")
		a, err = parseV2(n.members, names)
	}
	return a, inFile(file, err)
}

// isSeries reports whether the array is several volumes, such as one for each time.
func (n *node) isSeries() bool {
	a, err := n.parse()
	if err != nil {
		return false
	}
	points, err := a.Series(ArrayOptions{})
	return err == nil && len(points) > 1
}

// open opens the node as a source.
func (n *node) open() (volume.Root, error) {
	if n.isArray && !n.isSeries() {
		m, err := n.mag(ArrayOptions{Factor: volume.Factor{1, 1, 1}})
		if err != nil {
			return volume.Root{}, err
		}
		return volume.Root{Mag: m}, nil
	}
	switch p, err := n.plate(); {
	case err != nil:
		return volume.Root{}, inFile(path.Join(n.dir, n.file), err)
	case p != nil:
		return volume.Root{Dataset: p}, nil
	}
	g, err := n.group()
	if err != nil {
		return volume.Root{}, err
	}
	if len(g.names) > 0 {
		return volume.Root{Dataset: g}, nil
	}
	return g.Root(path.Join(n.dir, n.file))
}
