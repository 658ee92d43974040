package zarr

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// OpenAnnotation opens an array of a volume annotation that was downloaded from WEBKNOSSOS, in directory dir of fsys.
// The metadata of such arrays often do not fit their files, which depend on the version of the server. What all of them
// have in common, and the server itself reads, is: a file is a Blosc chunk whose voxels are in Fortran order of the
// array's axes. Its name is made of the position of the chunk, with or without "c." before it. A file of another form
// is an error when it is read. The shape is no bounding box, so the options should have one.
func OpenAnnotation(fsys fs.FS, dir string, o ArrayOptions) (volume.Mag, error) {
	n, err := readNode(fsys, dir)
	if err != nil {
		return nil, err
	}
	file := path.Join(dir, n.file)
	if !n.isArray || n.file != metadataV3 {
		return nil, broken(file, "node", "an array of version 3", "another")
	}
	a := &chunked.Array{}
	var number codec.Number
	for _, read := range []func() error{
		func() (err error) { a.Shape, err = integers(n.members, "shape"); return err },
		func() (err error) { number, _, err = readType(n.members); a.Type = number.Type; return err },
		func() error { return readChunkGrid(n.members, a) },
		func() error { return readKeyEncoding(n.members, a) },
		func() error { return readNames(n.members, a) },
		func() (err error) { a.Fill, err = parseFill(n.members["fill_value"], number); return err },
	} {
		if err := read(); err != nil {
			return nil, inFile(file, err)
		}
	}
	a.Order = identity(len(a.Shape))
	slices.Reverse(a.Order)
	a.Codecs = codec.Chain{codec.Blosc{}}
	a.Compression = a.Codecs.String()
	if a.Key.Separator == "." {
		if a.Key.Prefix, err = annotationPrefix(fsys, dir, a.Key.Prefix); err != nil {
			return nil, err
		}
	}
	o.StatMetadata = chunked.StatFiles(o.StatMetadata, fsys, file)
	m, err := chunked.New(fsys, dir, a, o)
	if err != nil {
		return nil, inFile(file, err)
	}
	return m, nil
}

// annotationPrefix returns what the names of chunks start with: "c" or nothing. If there are none, it is that of the
// metadata.
func annotationPrefix(fsys fs.FS, dir, declared string) (string, error) {
	for entries, err := range vfs.ListDir(fsys, dir) {
		if err != nil && !vfs.CannotList(err) {
			return "", err
		}
		for _, e := range entries {
			name, hasPrefix := strings.CutPrefix(e.Name(), "c.")
			if first, _, ok := strings.Cut(name, "."); ok && first == "0" {
				if hasPrefix {
					return "c", nil
				}
				return "", nil
			}
		}
	}
	return declared, nil
}
