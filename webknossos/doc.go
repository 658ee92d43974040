// Package webknossos opens datasets of WEBKNOSSOS: directories of layers, whose mags are WKW or another format.
//
// To begin, open a directory with [Recognise]. It returns a dataset, a layer, a mag or a single cube file, with the
// interfaces of package volume. [volume.ReadBox] reads a box of a mag.
//
// A dataset is a directory of layers, and a layer a directory of mags. A mag of WKW has cube files "z0/y0/x0.wkw",
// which package wkw reads, and one "header.wkw" with their geometry. A cube that does not exist reads as zeros. One
// that cannot be read is an error.
//
// The metadata file of a dataset, [PropertiesFile], adds the size of a voxel and the boxes of layers. It may locate
// mags in other directories, and name layers of other formats. [ReadProperties] reads it alone. [Options] has functions
// that open what this package does not: the other formats, and what lies outside of the dataset.
//
// All files are opened for reading only. All functions and methods may be called by many goroutines at once.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - If `header.wkw` is missing or damaged, it is inferred from the cubes, with a warning in the log.
//     `TestGeometry`
package webknossos
