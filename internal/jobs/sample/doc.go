// Package sample generates synthetic electron microscopy data: an image that looks like brain tissue, and its
// segmentation.
//
// A [Tissue] is an unbounded volume that is computed from a seed. A voxel depends only on its position, not on the box
// or block that is read. Cells form a Voronoi diagram. Each site has its own size and stretched metric, and the space
// is bent by smooth noise. A voxel with two cells at about the same distance is membrane. Mitochondria, stains and
// grain are painted on top. The grain is tuned so that LZ4 compresses the image to about half its size in many short
// sequences, as it does with real data.
//
// One core computes about 25 MB of image, or 100 MB of segmentation, per second. Several goroutines may use everything
// here at once. Rounding depends on the processor (some fuse multiplications and additions), so a few voxels may differ
// between architectures.
//
// [Write] writes a small dataset of it, for first steps, tests and benchmarks.
package sample
