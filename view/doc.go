// Package view arranges volumes as files: it turns a [volume.Root] into an
// [fs.FS] whose names are those of the mount (ARCHITECTURE.md, "What a mount
// shows") and whose bytes are flat arrays.
//
// The tree is made of nodes that are built on the way to a path and thrown away
// again; only what the source says is kept, by the source. Paths are resolved
// without touching the source where the answer is in the name: z3/y0/x7.raw is
// looked for once, as one file.
//
// All flat files are one engine, [Flat]: a box of a source, laid out in Fortran
// order. It maps a range of bytes to rows of voxels and those to blocks.
package view
