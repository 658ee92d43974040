// Package volume describes arrays of voxels that are stored in equal blocks.
//
// It is what the format packages have in common: webknossos with wkw, zarr, n5 and precomputed. A format package
// implements a catalogue ([Dataset], [Layer], [Mag]) and the arrays in it ([Source]). Programs that use these
// interfaces work with every format.
//
// To begin, open anything with package [github.com/wkwfs/wkwfs/dataset], or a dataset of one format
// with Recognise of its package, which returns a [Root]. Then [ReadBox] reads a box of a [Mag], and
// [ReadBlock] one block of a [Source]. Programs that read more than once read through a cache, with a
// Reader of package dataset.
//
// These conventions hold in all packages:
//
//   - Axes are in the order x, y, z. In memory x varies fastest (Fortran order), and the
//     channels of a voxel are adjacent. The byte offset of a value is
//     size·(channel + C·(x + X·(y + Y·z))).
//   - All values are little-endian.
//   - Positions are in voxels of the mag at hand. Names and comments say where they are not.
//   - Lengths in the world are in nanometres.
//   - Boxes are half open.
//
// A block or a box that is read must have less than 2^63 bytes, and fit in memory. The package is safe
// for concurrent use, and so is everything that implements its interfaces.
package volume
