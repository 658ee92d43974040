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

// MagPart is a mag that is a part of another one.
type MagPart struct {
	Mag
	Name string // what it is, for people: "the annotation"
}

// CubeFiles says which names the cube files of a mag have.
type CubeFiles struct {
	FS      fs.FS
	Dir     string // of the cube files
	Example string // the name of a cube file below Dir: there need not be such a file

	// Kind says what a slash-separated name below Dir is. It reads nothing.
	Kind func(name string) CubeName
}
