// Package hdfsource shows the datasets of an HDF5 file as layers.
//
// A dataset of HDF5 is a mag of one cube. The blocks of a chunked dataset are its chunks; those of another one are
// pieces of about 64 KiB. Chunks that were never written have the fill value. Values become little-endian, floats of 16
// bits become floats of 32 bits, and enumerations become the integers that they are stored as.
//
// Which datasets are layers, which of their axes are x, y, z and channels, where they lie, and which are mags of one
// layer, follows the conventions of CREMI, ilastik, BigDataViewer, Imaris, MATLAB, n5-hdf5, netCDF and gunpowder.
// Without names, three axes are z, y, x, two are y, x, and axes of one value do not count. What is no volume is left
// out with the reason.
//
// Each point in time of BigDataViewer, of Imaris, and of an axis with the name t, is a layer of its own, NAME/t0000, as
// package zarr has them. A file or a dataset of one time has none of these names. The times of BigDataViewer and Imaris
// keep their numbers, and some may be missing.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - A mount has the values, the place and the voxel size that the writer gave. What was never written has the fill
//     value. Damage is an error for what depends on it: other chunks, datasets and layers read.
//     `TestHDF5Files`, `TestHDF5Everywhere`, `TestDamaged`
//   - Each time has its own values, and one that is missing or damaged costs only itself.
//     `TestTimesOfHDF5`, `TestTimesOfArrays`, `TestDamagedTime`
//   - `wkwfs info` says what was assumed of a dataset: the order of its axes, and the unit of its voxel size.
//     `TestHDF5Assumed`
//   - An error names the file once, and counts from its start, user block included.
//     `TestLocated`
//   - A mount of a file at a URL takes at most 24 requests, and a chunk of a small index at most 4.
//     `TestHDF5Requests`
//   - A dataset may have more chunks than its index has room for in memory: parts of the index are read when they are
//     needed, with the same result.
//     `TestParts`, `TestLargeIndexes`, `TestDamagedPart`, `TestPartsTogether`
//   - The limit of memory holds for all files of the reference data whose datasets have at most 1 GiB.
//     `TestMemoryOfHDF5`
package hdfsource
