// Package diff compares two mags voxel by voxel, and finds the boxes that differ.
//
// A voxel outside of a bounding box, or in a block that is absent, is 0. Voxels are compared as bytes.
//
// # What is not read
//
// Both mags are cut into units: blocks, or a few of them. A unit is read only if it may differ. It is equal without
// being read if neither mag has a cube there, or if both have the same versions of the same cubes. An overlay
// (package overlay) is the mag below it where the mag above has no block. So a dataset is compared with an annotation
// over it in the time that the blocks of the annotation take.
//
// # What is reported
//
// Units that differ are joined to boxes along x, then y, then z, within a cell of 32 units a side. Boxes do not
// overlap, and come in an order that depends on the voxels only. So the memory does not depend on the size of the mags:
// it is the budget of the cache, two runs of units for each job, what a cell has, and for a large box up to 2^20 cells
// with cubes. More are an error.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - `wkwfs diff` reports each voxel that differs in exactly one box, whatever the formats, blocks, cubes and bounding
//     boxes of both sides are.
//     `TestDiffModel`, `TestDiffReferenceData`
//   - What versions or absence prove to be equal is not read. Of an annotation over its layer, only blocks of the
//     annotation are.
//     `TestDiffReadsLittle`
//   - A block that cannot be read is a fault of its box, and never equal. All other boxes are compared.
//     `TestDiffFaults`, `TestDiffOfDamage`
package diff
