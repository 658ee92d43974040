// Package importer writes arrays of voxels from files of other programs as layers of a WEBKNOSSOS dataset. Package arrayfile
// reads these files, and package pyramid writes the cubes of all mags.
//
// If an import was interrupted, the same call of [Import] resumes it: it keeps the complete cubes if input and options are
// the same. [Update] replaces a box of a layer.
//
// If options, dataset and input together lack something, the error is a [MissingError], and nothing is written. The category is
// lacking if neither the options nor names, header, type or a sample of the voxels show it.
package importer
