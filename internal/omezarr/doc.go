// Package omezarr writes the metadata of a layer as an OME-Zarr image, and the bytes around its chunks. It reads no
// voxels: all functions are pure functions of a description.
//
// There are two forms: OME-Zarr 0.4 on Zarr 2, which older programs read, and OME-Zarr 0.5 on Zarr 3. They differ in
// the names and the layout of the metadata, and in the names of chunks. The bytes of the chunks are the same.
//
// Specifications: https://ngff.openmicroscopy.org (versions 0.4 and 0.5), "Zarr storage specification version 2",
// "Zarr core specification (version 3)" with the codecs bytes and blosc, and the README_CHUNK_FORMAT of c-blosc.
package omezarr
