// Package n5 reads N5 datasets (here: arrays) and groups of them.
//
// To begin, open a directory with [Recognise]. It returns a [volume.Root]: an array is a [volume.Mag], a group of
// resolutions (s0, s1, …) a [volume.Layer], and any other group a [volume.Dataset]. The specification is
// https://github.com/saalfeldlab/n5. A block of N5 is a [volume.CubeFile] with one block.
//
// # Geometry
//
// The first axis varies fastest. Without names, 3 axes are x, y, z; 4 axes are x, y, z, c; 5 axes are x, y, z, c, t.
// The member "axes" may name them. Each index on another axis is a layer, as in package zarr.
//
// # What it reads
//
//   - All data types but strings and objects.
//   - The compressions raw, gzip, zlib, bzip2, lz4, blosc, zstd and xz.
//   - Blocks of mode 0 (default) and mode 1 (varlength), cut at the end of the array or not.
//   - Resolutions and units of OpenOrganelle (transform), n5-viewer (pixelResolution, downsamplingFactors),
//     BigDataViewer (downsamplingFactors) and Paintera (resolution, offset). What a group says is the default for what
//     is in it.
//
// An array that needs anything else is refused: its error is a [volume.UnsupportedError] that names the field.
//
// # Absence and damage
//
// A block that was never written is 0. A block that exists and cannot be read is a [volume.FormatError].
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - Resolutions of N5 have the factors, voxel sizes and places that OpenOrganelle, n5-viewer, BigDataViewer and
//     Paintera give them. Attributes of a group are the defaults of its arrays and groups. `pixelResolution` of an
//     array with `downsamplingFactors` is the voxel size at full resolution. `offset` moves the voxels. If no
//     attribute has the factor of an array, it comes from its name or from the sizes of the arrays.
//     `TestPlaces`, `TestPlaceOfArray`, `TestResolutions`, `TestFactorOfSizes`
package n5
