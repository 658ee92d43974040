// Package view arranges volumes as files: it turns a [volume.Root] into an
// [fs.FS] whose names are those of the mount (ARCHITECTURE.md, "What a mount
// shows") and whose bytes are flat arrays.
//
// The tree is made of nodes that are built on the way to a path and thrown away
// again; only what the source says is kept, by the source. Paths are resolved
// without touching the source where the answer is in the name: z3/y0/x7.raw is
// looked for once, as one file.
//
// All files of voxels are read by a [prefetch.Reader]: a box of a cube file, or of the
// mosaic of a mag, with what a format puts around it.
package view
