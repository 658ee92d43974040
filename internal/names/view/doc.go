// Package view presents volumes as files. It turns a [volume.Root] into an [fs.FS]. The names are those of package tree
// (README.md, "What is where"). The bytes are flat arrays.
//
// The tree consists of nodes. Nodes are created on the way to a path and are not kept. A path is resolved without
// access to the source where its name is enough: z3/y0/x7.raw takes one lookup, of one file.
//
// Every file of voxels is read through a [prefetch.Reader]. It reads a box of a cube file, or of the mosaic of a mag.
// The format of the file may put a header and a tail around the voxels.
//
// # Decisions
//
// A directory of computed names, such as slices or chunks of the Precomputed view, lists none of them if they are more
// than a million (2^20). Every entry is found by name.
//
// Chunks of the Precomputed view are blocks where blocks have 16 to 128 voxels a side, otherwise 32 or 64 voxels,
// aligned with blocks.
//
// Holes of files are rows of absent cubes that have at least 64 KiB: gaps inside a row of voxels would cost more to
// skip than to read.
package view
