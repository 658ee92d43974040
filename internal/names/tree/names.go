// Package tree defines the names that a mount shows: README.md, "What is where".
// People put them into scripts, so they do not change. Package view builds the tree, and every
// other package that knows a name of it takes the name from here.
//
// All functions are pure: they format, parse and classify names.
package tree

// Names of files and directories.
const (
	VolumeStem  = "volume"                     // in a mag: files of the whole volume, one per suffix
	VolumeJSON  = VolumeStem + JSON            // in a mag: describes the arrays of the mag
	VolumeRaw   = VolumeStem + Raw             // in a mag: all voxels, without a header
	Slices      = "slices"                     // in a mag: directory of xy planes
	Boxes       = "box"                        // in a mag: directory of boxes, which are not listed
	Chunks      = "chunks"                     // in a mag of a Precomputed source: directory of stored chunks
	Precomputed = "precomputed"                // in a layer: the layer as a Precomputed volume
	Info        = "info"                       // in Precomputed: the info file
	OMEZarr     = "ome.zarr"                   // in a layer: the layer as OME-Zarr 0.4, on Zarr 2
	OMEZarr3    = "ome-v3.zarr"                // in a layer: the layer as OME-Zarr 0.5, on Zarr 3
	Server      = ".wkwfs"                     // in the root: files of the server itself, not listed
	Properties  = "datasource-properties.json" // in a dataset: its metadata
)

// Suffixes. Package header defines those of its formats.
const (
	Raw    = ".raw"    // voxels without a header
	Blocks = ".blocks" // directory of the blocks of a cube
	JSON   = ".json"
	TIFF   = ".tif" // of slices
)

// Patterns of package path that match the stored files of a mag, relative to the mag.
const (
	CubePattern  = "z*/y*/x*" + Raw
	ChunkPattern = Chunks + "/*" + Raw
)
