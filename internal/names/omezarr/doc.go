// Package omezarr writes the metadata of a layer as an OME-Zarr image, and the bytes around its chunks. It reads no
// voxels: all functions are pure functions of a description.
//
// There are two forms: OME-Zarr 0.4 on Zarr 2, which older programs read, and OME-Zarr 0.5 on Zarr 3. They differ in
// the names and the layout of the metadata, and in the names of chunks. The bytes of the chunks are the same.
//
// Specifications: https://ngff.openmicroscopy.org (versions 0.4 and 0.5), "Zarr storage specification version 2",
// "Zarr core specification (version 3)" with the codecs bytes and blosc, and the README_CHUNK_FORMAT of c-blosc.
//
// # Decisions
//
// Chunks of ome.zarr are columns of blocks. In C order of z, y, x, the voxels of blocks that follow one another on z
// are those of one block after the other. The container of Blosc has blocks, too. So LZ4 blocks become a chunk by
// a header and two numbers for each block, and the program that reads decodes them. With larger
// chunks, all of a layer is read faster, and planes are read more slowly (docs/performance-history.md).
//
// wkwfs decodes these blocks, too, only to find damage. That takes 18 µs for a block of 32 KiB
// (go test ./wkw -run - -bench FillLZ4). To look up, open and read a chunk through FUSE takes some hundred µs.
//
// Index 0 of ome.zarr is voxel 0 of the mag, not the start of the layer. Zarr names chunks by their index: if a
// cube appeared before the start of a layer without a bounding box, all names would get other voxels, also in
// programs that have read the shape before. And many viewers ignore translations of levels.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - `ome.zarr` and `ome-v3.zarr` have the same voxels as an OME-Zarr image, 0.4 on Zarr 2 and 0.5 on Zarr 3.
//     Each mag is an array of its name, with the axes z, y, x, or c, z, y, x if there is more than one channel.
//     Scale and translation are in nm. The translation is the centre of the array's first voxel; position 0 is the
//     centre of voxel 0 of mag 1. Without voxel sizes, a voxel of mag 1 has the size 1, without a unit.
//     Segmentations have `image-label`.
//     `TestOMEZarr`, `TestV04`, `TestV05`, `TestKinds`, `TestConsolidated`, `TestClients`, `TestClientOMEOverHTTP`
//   - The times of a layer, t0000 and so on, are one such image beside them, too: each mag is an array with the axes t,
//     c, z, y, x, and its chunks are those of the times. A time that has another size or type than the first one is an
//     error of its chunks. `TestOMEZarrOfTimes`, `TestTimesAsImage`
//   - In `ome.zarr`, dimensions of one name (`_ARRAY_DIMENSIONS`) have one length in all arrays, so that xarray
//     opens the group: `x`, and `x_2` in mag 2. In `ome-v3.zarr`, OME-Zarr demands the names of the axes for all
//     arrays.
//     `TestDimensions`, `TestAxes`
//   - Images of 8 bits have `omero`, with the range of their type as the window of each channel. For other images
//     the window is `adminViewConfiguration.intensityRange` of the layer in `datasource-properties.json`, else
//     `defaultViewConfiguration.intensityRange`, cut at the range of the type. Without both they have no `omero`,
//     and programs choose a window from the voxels. Reading this metadata reads no voxels. An invalid range is
//     ignored.
//     `TestKinds`, `TestWindows`, `TestIntensityRange`, `TestAdminIntensityRange`, `TestWindow`,
//     `TestOMEZarrWindow`
//   - Index 0 of these arrays is voxel 0 of the mag, as in arrays that WEBKNOSSOS writes, and they end where the
//     layer ends. So a chunk has the same voxels while a layer grows, and mags and layers lie in place in programs
//     that ignore translations. If a layer starts below 0 on an axis, index 0 is its start, rounded down to a
//     chunk, and the translation says where that is.
//     `TestOMEZarr`, `TestOMEZarrRoundTrip`, `TestOMEZarrBelowZero`
//   - Voxels outside of the layer's box are zeros. A chunk without a voxel in any cube does not exist. The chunks
//     at the end of an array are whole.
//     `TestOMEZarr`
//   - A chunk of these arrays is a column: a power of two of blocks that follow one another on z. It has up to 128
//     KiB of voxels, or up to four blocks if these have at most 512 KiB, and no voxels of a second cube. Blocks of
//     less than 16 or more than 128 voxels a side are joined or cut, as in `precomputed`.
//     `TestOMEZarrColumns`, `TestOMEZarr`
//   - If the blocks of a mag are LZ4 of one channel, a chunk is these blocks as they are stored, in the container
//     of Blosc. Blocks that start before the box, and blocks of raw cubes, are in the container without
//     compression. Blocks after its end, or before its start, are zeros, and are not read. All other arrays have
//     no compressor.
//     `TestOMEZarr`, `TestOMEZarrForms`, `TestOMEZarrOfEqualLength`, `TestLayContainer`, `TestZeros`,
//     `TestClients`
//   - A stored block is decoded before it is given out, and its voxels are thrown away, so that damage is an error
//     of wkwfs and not of the program that reads. A chunk with a damaged block can be looked up and opened, but
//     not read: none of its blocks can be read there. The error names the file and the block. If the length of a
//     block is not known either, because the jump table is damaged, looking up its chunk is an error.
//     `TestFillLZ4`, `TestOMEZarrDamage`
package omezarr
