package dataset

import (
	"errors"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/files/filesource"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/volume"
)

// File says about a source that is a file of voxels, or a folder of pictures, what its header does not say, or says
// otherwise. The zero value says nothing.
type File struct {
	// Size and Type describe a file that has only voxels: their number on x, y and z, and a type such as "uint16".
	// Both or none are set.
	Size volume.Vec
	Type string
	// Channels is how many values a voxel of such a file has. Zero means one.
	Channels int
	// BigEndian says that the values of such a file are big-endian.
	BigEndian bool

	// Axes has the letters of the axes, slowest first, as numpy prints the shape of an array: x, y, z, and c for
	// channels. Empty means the usual ones, or those of the header.
	Axes string
	// Spacing is the size of a voxel in nm. Zero means that of the header.
	Spacing [3]float64
	// Origin is the position of the first voxel, in voxels. Nil means that of the header.
	Origin *volume.Vec
}

// as returns what f says. Errors name flags of the program.
func (f File) as() (as filesource.As, err error) {
	as = filesource.As{Axes: f.Axes, Spacing: f.Spacing, Origin: f.Origin}
	hasSize := f.Size != volume.Vec{}
	switch {
	case f.Channels < 0:
		return as, hint.Usagef("", "--channels: expected at least 1")
	case !hasSize && f.Type == "" && (f.Channels > 1 || f.BigEndian):
		return as,
			hint.Usagef("", "--channels and --big-endian are for a file without a header, with --shape and --dtype")
	case !hasSize && f.Type == "":
		return as, nil
	case !hasSize:
		return as, hint.Usagef("write it like --shape 1024,1024,256",
			"--dtype is for a file without a header, which needs --shape")
	case f.Type == "":
		return as, hint.Usagef("write it like --dtype uint8",
			"--shape is for a file without a header, which needs --dtype")
	}
	raw := filesource.RawShape{Size: f.Size, Channels: max(1, f.Channels), BigEndian: f.BigEndian}
	if raw.Type, err = volume.ParseType(f.Type); err != nil {
		return as, hint.Usagef("", "--dtype: %w", err)
	}
	as.Raw = &raw
	return as, nil
}

// recogniseSource recognises the source itself, and not what it leads to. What [Options].File describes is not taken
// for anything else.
func (d *directories) recogniseSource(fsys fs.FS, path, name string) (root volume.Root, err error) {
	if d.options.File == (File{}) {
		return d.recognise(fsys, path, name, d.options.Log)
	}
	as, err := d.options.File.as()
	if err != nil {
		return root, err
	}
	root, err = filesource.Recognise(fsys, name, d.fileOptions(path, as, d.options.Log))
	if errors.Is(err, filesource.ErrNotRecognised) {
		return root,
			hint.Usagef("",
				"--shape, --dtype, --axes, --voxel-size and --offset are for a file of voxels or a folder of pictures, which this is not")
	}
	return root, err
}
