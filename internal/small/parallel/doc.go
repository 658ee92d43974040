// Package parallel makes many calls at a time and bounds how many are in progress. A slow source then answers them
// together instead of one after the other.
//
// No call is in progress when a function of this package has returned.
package parallel
