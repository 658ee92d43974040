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
// Chunks of ome.zarr are stored blocks. In C order of z, y, x, the voxels of blocks that follow one another on z
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
package omezarr
