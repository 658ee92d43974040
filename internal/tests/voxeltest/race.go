//go:build race

package voxeltest

// Race reports whether the race detector is on. It makes loops over millions of values some ten times slower.
const Race = true
