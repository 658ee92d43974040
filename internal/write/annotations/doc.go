// Package annotations writes volume annotations: [Pack] makes the archive that WEBKNOSSOS takes, and [Revert] removes
// blocks of one that lies in a directory.
//
// # The archive
//
// It has the NML file, and one more archive for each volume. Their names are those of the NML file, of its
// volumes and of the files of the volumes. Only what a volume is read from is in it, and each block is decoded before.
// A mag of WKW gets a header.wkw if it lacks one, because WEBKNOSSOS finds the mags of a volume by these files.
//
// The NML file stays as it is, except for two attributes of a volume: location gets the suffix .zip if the data lie in
// a directory, and largestSegmentId becomes at least the largest id in the blocks. Otherwise new segments could get ids
// that are taken.
//
// The archives of blocks are stored and not compressed in the outer one, so that blocks are read where they are. Sizes
// and checksums stand in front of all files, because readers of streams need them there. No file has a time: the same
// annotation gives the same bytes.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - `wkwfs cp --annotation` makes an archive with the files that downloads from WEBKNOSSOS have, byte for byte. Over
//     its dataset, it shows the voxels of its source. `TestPackLayout`, `TestCopyAnnotation`
//   - The same annotation makes the same bytes, whether it is an archive or a directory.
//     `TestPackLayout`
//   - A block that cannot be read is an error, and no archive appears. Cubes of several blocks are refused: WEBKNOSSOS
//     leaves them out. `TestPackErrors`
//   - An existing file is not replaced without `--force`.
//     `TestPackErrors`
//   - `wkwfs edit revert` removes the blocks that lie in a box as a whole, and no other. If a block is in the box in
//     part, it removes nothing, unless `--round` takes such blocks, too. `TestRevert`, `TestRevertErrors`
//   - While another process writes to the directory, it removes nothing.
//     `TestRevertErrors`
package annotations
