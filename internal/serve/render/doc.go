// Package render turns voxels into pixels: grey values by a window of percentiles, colours of segments, and red, green
// and blue as they are. Its functions are pure.
package render
