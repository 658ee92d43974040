// Package zarr reads Zarr arrays, versions 2 and 3, and groups of them, OME-Zarr among them.
//
// To begin, open a directory with [Recognise]. It returns a [volume.Root]: an array is a [volume.Mag], an OME-Zarr image a
// [volume.Layer] with a mag for each resolution, and any other group a [volume.Dataset].
//
// The specifications are https://zarr-specs.readthedocs.io (v2: "Zarr Storage Specification Version 2"; v3: "Zarr core
// specification (version 3)" and its codecs) and https://ngff.openmicroscopy.org (OME-Zarr). Their terms map to package
// volume:
//
//	shard, or chunk without sharding         volume.CubeFile
//	inner chunk, or chunk without sharding   a block of it
//
// # Geometry
//
// The axes are found by name: x, y, z and c (channel), from the OME metadata, dimension_names (v3) or _ARRAY_DIMENSIONS
// (v2). In OME-Zarr 0.6 they are those of the coordinate system that the resolutions lead to. Without names, 3 axes are
// z, y, x; 4 axes are c, z, y, x; 5 axes are t, c, z, y, x. All other axes must have length 1. See Axes of [ArrayOptions] for arrays whose axes are described elsewhere.
//
// # What it reads
//
//   - All integer and floating-point types of 8 to 64 bits, of both byte orders; booleans as uint8. No float16.
//   - Version 2: order C and F; compressors zlib, gzip, zstd, lz4, blosc, bz2, lzma; checksums, but no other filters.
//   - Version 3: regular chunks; the codecs transpose, bytes, gzip, zstd, blosc, crc32c; sharding_indexed, also one in another.
//     No codecs of bytes after sharding_indexed.
//
// An array that needs anything else is refused: its error is a [volume.UnsupportedError] that names the field. Extensions
// of version 3 with "must_understand": false are ignored.
//
// # Absence and damage
//
// A chunk that was never written has the fill value. A chunk that exists and cannot be read is a [volume.FormatError].
package zarr
