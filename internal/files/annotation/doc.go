// Package annotation opens volume annotations that were downloaded from WEBKNOSSOS: an NML file, and an archive of
// blocks for each volume. The download is an archive of these archives. It opens as it is, and unpacked in whole or in
// part.
//
// A volume is WKW, with a block in each file, or one of several generations of Zarr 3, whose metadata often do not fit
// their files. Its bounding box is that of the metadata, or else that of its blocks in each mag.
//
// # Decisions
//
// An archive that is stored in the other one is read where it is. One that is deflated is unpacked when the annotation
// is opened: up to 64 MiB into memory, up to 16 GiB into a temporary file. Blocks are unpacked when they are read. A
// block, or another file in an archive of blocks, of more than 16 MiB is an error: real ones have a few hundred
// kilobytes.
//
// Trees are shown as SWC, in the directory skeletons: one file for each. Their names are those of the trees, with _ for
// characters that some system cannot have. The trees are those that were read when the annotation was opened: if the
// NML file has changed since, reading one is an error.
//
// An annotation may have trees and no volume: an NML file, or an archive with one. It has no layers, or those of the
// dataset below. A directory with an NML file is an annotation only if it is nothing else, because people keep such
// files beside their data.
//
// A volume that was left out at download is an error. The layer below, shown in its place, would lack what was painted.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - A file in an archive that lies about its size, its checksum or its form is an error, and takes no memory.
//     `TestWholeErrors`
//   - A tree is an SWC file, whose name is safe and unique. Each node is there once, after its parent. Loops are
//     counted in a comment. `TestSkeletonNames`, `TestSWC`, `TestSWCRandom`, `TestComposedSkeletons`
//   - Lengths of trees follow from the voxel size of the dataset below. A comment states their unit.
//     `TestSkeletonSpacing`, `TestComposedSkeletons`
//   - A tree is never of another version than its annotation. A faulty tree is an error of its file, and of `check`.
//     `TestSkeletonChange`, `TestComposedSkeletons`
//   - The NML file is shown as it is.
//     `TestComposedSkeletons`
//   - Trees without volumes open as an NML file, in an archive or in a directory, alone and over a dataset, which is
//     unchanged.
//     `TestTreesWithoutVolumes`, `TestComposedTrees`
//   - `check` lists temporary files that a killed writer of blocks has left, and directories of blocks without an NML
//     file. A file that is younger than a minute is one that is being written.
//     `TestEditCommands`
//   - `check`, `info` and `mount` report files that nothing reads, on both sides of a merged layer.
//     `TestComposed`, `TestComposedGaps`
package annotation
