package volume

import "io/fs"

// Dataset is a directory of layers.
type Dataset interface {
	// Stat describes the directory.
	Stat() (fs.FileInfo, error)
	// Layers returns the names of the layers that exist now, sorted.
	Layers() ([]string, error)
	// Layer returns a layer. If there is none of that name, the error is fs.ErrNotExist.
	Layer(name string) (Layer, error)
	// Files returns the metadata files of the dataset. They may be in directories.
	Files() fs.FS
}

// Layer is one array of a dataset at several mags.
type Layer interface {
	// Stat describes the directory of the layer.
	Stat() (fs.FileInfo, error)
	// Mags returns the names of the mags that exist now, finest first.
	Mags() ([]string, error)
	// Mag returns a mag. If there is none of that name, the error is fs.ErrNotExist.
	Mag(name string) (Mag, error)
}

// Mag is one resolution level of a layer. Its voxels are stored in cube files on a regular grid:
// cube c starts at voxel CubeGrid().Origin + c × CubeGrid().Size.
type Mag interface {
	// Stat describes the directory of the mag.
	Stat() (fs.FileInfo, error)

	// About returns what is known about the mag beyond its geometry.
	About() About

	// CubeGrid returns the geometry that all cubes of the mag have. Its Origin is the first voxel of
	// cube 0,0,0.
	CubeGrid() (Grid, error)

	// Bounds returns the bounding box of the layer, in voxels of this mag.
	Bounds() (Box, error)

	// Cubes lists one level of the index of cube files, in rising order: without arguments each z that
	// has cubes, with a z each y, and with z, y each x. If there is no such level, the error is
	// fs.ErrNotExist.
	Cubes(zy ...int) ([]int, error)

	// StatCubes describes an entry of that index: the directory z, the directory z, y or the cube file z, y, x. It
	// opens no file. [VersionOf] the description of a cube file is the Version of the open file: so a cube that is
	// known needs not be opened.
	StatCubes(zyx ...int) (fs.FileInfo, error)

	// OpenCube opens cube c. If there is no such file, the error is fs.ErrNotExist.
	OpenCube(c Vec) (CubeFile, error)
}

// About describes a mag. Fields that are not known are zero.
type About struct {
	Factor      Factor
	Category    string // of the layer: color or segmentation
	Window      Window // of the layer
	Compression string // of most blocks: a single cube may differ
	Assumed     string // how a file was understood that may mean something else, for people; empty if it says all
	LZ4         bool   // most cube files are an [LZ4Source] that stores LZ4 blocks

	// NamedByBox is true if cube files are named by the box of voxels that they hold, and not by their
	// position in the grid of cubes.
	NamedByBox bool
}

// Window is the values of an image that are shown as black and as white. A zero Window is not known.
type Window struct{ Low, High float64 }
