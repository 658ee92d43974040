// Package flat lays out a box of voxels as one array of bytes in Fortran order, x fastest. It finds the blocks and
// rows that a range of these bytes consists of.
//
// The package is pure: no goroutines, no clock, no I/O. Callers pass decoded blocks, and the package copies their rows.
package flat
