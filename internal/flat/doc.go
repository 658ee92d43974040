// Package flat lays out a box of voxels as one array of bytes in Fortran order, x fastest, and finds the blocks and
// rows that a range of its bytes is made of.
//
// It is pure: no goroutine, no clock, no I/O. Callers give it decoded blocks, and it copies their rows to where they
// belong.
package flat
