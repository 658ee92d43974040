// Package mosaic shows the cubes of a mag that lie beside each other as one source of blocks, in one snapshot: it knows
// which version of each cube belongs together.
//
// A snapshot tells the cache key of every block without opening a file; in a mag of more than 20,000 cubes, the first read of a cube
// opens it. Cubes are opened when a block has to be
// decoded, and kept open for a while. No lock is held over I/O but the one of the cube that is opened.
package mosaic
