package volume

import "io/fs"

// CubeName says what a name in the directory of a mag is to the mag.
type CubeName int

// The kinds of names.
const (
	OtherName  CubeName = iota // not read for voxels
	DirName                    // a directory on the way to cube files
	FileName                   // a cube file, or a file with several cubes
	CopyName                   // a file that is not read, because cube files have its voxels, too
	BesideName                 // a cube file of another layer, beside those of the mag
)

// Composed is a Mag that is made of others, each with cube files of its own.
type Composed interface {
	// Parts returns them. They may be Composed, too.
	Parts() []MagPart
}

// MagPart is a mag that is a part of another one.
type MagPart struct {
	Mag
	Name string // what it is, for people: "the annotation"
}

// CubeNamer is a Mag that knows the names of its cube files. So files that it does not read can be found.
type CubeNamer interface {
	// CubeFiles returns the directory of the cube files, and the name of one of them below it as an example: there need not be
	// such a file.
	CubeFiles() (fsys fs.FS, dir, example string)
	// CubeName says what a slash-separated name below that directory is. It reads nothing.
	CubeName(name string) CubeName
}
