// Package importer writes flat arrays of voxels, as other programs leave them, into a
// layer of a WKW dataset.
//
// An [Input] is such an array: raw voxels, .npy, NRRD, NIfTI, or TIFF as one file or a
// folder of planes. Its header says type, shape and, where the format can, voxel size
// and place. Every header is untrusted: what it says is checked against the size of the
// file before anything is allocated, and what would change values (scaling, mirrored
// axes) is an error rather than a guess.
//
// [Import] writes the cubes of mag 1 and of coarser mags, several at once. Blocks are
// read as they are compressed, so memory does not grow with cubes or inputs. An
// import that was ended goes on with the next call: complete cubes are kept, if the
// input and the options are the same.
package importer
