// Package view presents volumes as files. It turns a [volume.Root] into an [fs.FS]. The names are those of package tree
// (README.md, "What is where"). The bytes are flat arrays.
//
// The tree consists of nodes. Nodes are created on the way to a path and are not kept. A path is resolved without
// access to the source where its name is enough: z3/y0/x7.raw takes one lookup, of one file.
//
// Every file of voxels is read through a [prefetch.Reader]. It reads a box of a cube file, or of the mosaic of a mag.
// The format of the file may put a header and a tail around the voxels.
//
// # Decisions
//
// A directory of computed names, such as slices or chunks of the Precomputed view, lists none of them if they are more
// than a million (2^20). Every entry is found by name.
//
// Chunks of the Precomputed view are blocks where blocks have 16 to 128 voxels a side, otherwise 32 or 64 voxels,
// aligned with blocks.
//
// A file of all times has a reader for each time, and no snapshots of those that it does not read: the snapshots of
// thousands of times may take more memory than all others. It knows their versions.
//
// Holes of files are rows of absent cubes that have at least 64 KiB: gaps inside a row of voxels would cost more to
// skip than to read.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - A layer or a mag whose name the mount needs is not shown: a layer `.wkwfs` or `datasource-properties.json`,
//     a mag `precomputed`, `ome.zarr` or `ome-v3.zarr`, and a mag `.wkwfs` of a layer that is SOURCE. Nor is one
//     whose name has more than 255 bytes, or is not UTF-8. `wkwfs info` has the reason, and so has the log from
//     the first listing on. `wkwfs check` and `wkwfs cp` do all the rest, and fail. A name that is not UTF-8 may
//     be that of something else: it is only a note, and not in the log. All other names are shown. A view of a
//     layer lacks the mags that have the names of its own files, such as `precomputed/info`.
//     `TestReservedNames`, `TestReservedNamesOfWKW`, `TestImpossibleNames`, `TestStatusNameIsTaken`,
//     `TestWhyHidden`, `TestIsBlocks`
//   - If there are more than 1,048,576 slices, chunks of a mag in `precomputed`, or entries in a directory of
//     chunks of `ome.zarr`, none of them is listed. Each can be opened by its name.
//     `TestDeepBox`, `TestOMEZarrOfManyChunks`
//   - A layer with several times has each mag at all times as `LAYER/MAG/volume.raw`, `.npy`, `.nii` and `.tif`: the
//     volumes of the times, one after the other. `volume.json` has the number of times, and why a format is not
//     offered: it has no axis of time, its header cannot hold the sizes, or the times differ in size or type. A
//     layer of one time has no such directory, and neither has one with several axes besides x, y, z and channels.
//     `TestFilesOfTimes`, `TestFilesOfUnlikeTimes`, `TestTimesAsFiles`, `TestClientTimes`
//   - Such a file of up to 64 times shows a change at the next open, and one of more times as they were at most one
//     second ago, or 20 times as long as it takes to describe them all, up to a minute. An open file of a time that
//     changes has what it had, or fails.
//     `TestFilesOfTimesChange`, `TestFilesOfManyTimesChange`
//   - Directories of any number of cubes are listed.
//     `TestListingOfManyCubes`, `TestListIsComplete`
//   - Listing opens no cube file.
//     `TestListingIsQuick`
//   - Sizes are exact.
//     `TestReadAgreesWithModel`, `TestTreeAttributes`
//   - `st_blocks` is the stored size: for a cube that of its file, for a volume the sum of its cubes, for a part a
//     share of it.
//     `TestStoredSize`
//   - Files of voxels have the extended attributes `user.wkwfs.dtype`, `shape`, `channels`, `order` and `origin`,
//     and `voxel_size` where it is known.
//     `TestAttributesOfArrays`
//   - SEEK_HOLE and SEEK_DATA report absent rows of cubes in a volume, where they make 64 KiB or more.
//     `TestHoles`
//   - A layer of 100,000 × 100,000 × 10,000 voxels mounts and lists within seconds. A read anywhere in it also
//     takes seconds at most.
//     `TestHugeLayer`
//   - An array of more than 2^63 − 1 bytes is not offered as a file, and `volume.json` gives the reason.
//     `TestHugeLayer`
package view
