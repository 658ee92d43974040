// Package view presents volumes as files. It turns a [volume.Root] into an [fs.FS]. The names are those of package tree
// (README.md, "What is where"). The bytes are flat arrays.
//
// The tree consists of nodes. Nodes are created on the way to a path and are not kept. A path is resolved without
// access to the source where its name is enough: z3/y0/x7.raw takes one lookup, of one file.
//
// Every file of voxels is read through a [prefetch.Reader]. It reads a box of a cube file, or of the mosaic of a mag.
// The format of the file may put a header and a tail around the voxels.
package view
