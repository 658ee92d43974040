// Package sample makes up electron microscopy data: an image that looks like brain
// tissue, and the segmentation that goes with it.
//
// A [Tissue] is an unbounded volume that is computed where somebody looks, from a
// seed and nothing else: a voxel depends on its position alone, not on the box
// or block it is asked for with. Cells are a Voronoi diagram whose sites have sizes and
// stretched metrics of their own and whose space is bent by smooth noise; where two
// cells are about equally near there is a membrane. Mitochondria, stains and
// grain are painted over that. The grain is such that LZ4 takes the image to about half
// its size in many short sequences, as it does with real data.
//
// One core computes some 25 MB of image, or 100 MB of segmentation, a second.
// Everything here is safe for concurrent use. Rounding follows the processor (some fuse multiplications and
// additions), so that a few voxels may differ between architectures.
//
// [Write] writes a small dataset of it, for first steps, tests and benchmarks.
package sample
