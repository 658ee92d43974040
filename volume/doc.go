// Package volume describes arrays of voxels that are cut into equal blocks.
//
// It is the narrow waist between storage formats and presentations: a format
// package ([wkw], …) offers a [Source] and a catalogue of them ([Dataset],
// [Layer], [Mag]); everything that shows voxels to somebody reads through these
// interfaces and knows no format.
//
// Conventions that hold in every package of the program:
//
//   - axes are always in the order x, y, z, and x varies fastest in memory
//     (Fortran order); the channels of a voxel lie next to each other, so the
//     byte index of a value is
//     size·(channel + C·(x + X·(y + Y·z)));
//   - all values are little-endian;
//   - positions are in voxels of the mag at hand unless a name says otherwise;
//     lengths in the world are in nanometres;
//   - boxes are half open.
//
// The package allocates nothing large and touches no files.
package volume
