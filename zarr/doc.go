// Package zarr reads Zarr arrays, versions 2 and 3, and groups of them, OME-Zarr among them.
//
// To begin, open a directory with [Recognise]. It returns a [volume.Root]: an array is a [volume.Mag], an OME-Zarr
// image a [volume.Layer] with a mag for each resolution, and any other group a [volume.Dataset].
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
// z, y, x; 4 axes are c, z, y, x; 5 axes are t, c, z, y, x. Each index on another axis, such as time, is a layer of its
// own: t0000 and so on. See Axes of [ArrayOptions] for arrays whose axes are described elsewhere.
//
// # What it reads
//
//   - All integer and floating-point types of 8 to 64 bits, of both byte orders; booleans as uint8, and float16 as
//     float32.
//   - Version 2: order C and F; compressors zlib, gzip, zstd, lz4, blosc, bz2, lzma; checksums, and the filters of
//     numcodecs.
//   - Version 3: regular chunks; the codecs transpose, reshape, scale_offset, cast_value, bytes, packbits, gzip, zstd,
//     blosc, crc32c, and those of numcodecs; sharding_indexed, also one in another. A codec after sharding_indexed is
//     refused.
//
// An array that needs anything else is refused: its error is a [volume.UnsupportedError] that names the field.
// Extensions of version 3 with "must_understand": false are ignored.
//
// # Absence and damage
//
// A chunk that was never written has the fill value. A chunk that exists and cannot be read is a [volume.FormatError].
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - A Zarr or N5 array reads voxel for voxel, whatever its axes, byte order, chunks, shards and codecs are. Absent
//     chunks, and absent inner chunks of a shard, have the fill value. Voxels outside of the array are zeros.
//     `TestArrayReferenceData`, `TestAgreesWithModel`, `TestClientZarr`, `TestBrowserZarritaAgrees`,
//     `TestBrowserArraysAgree`
//   - The resolutions of an OME-Zarr image or N5 group are mags under the names of their paths, with their voxel
//     sizes. An image with transformations other than scales and translations is not shown.
//     `TestRecogniseReferenceData`, `TestResolutions`, `TestCoordinateSystems`
//   - An array that needs an unknown filter, codec, type or member that must be understood is not shown, never read
//     wrongly. `wkwfs info` names it with the field. The other layers are shown.
//     `TestArrayReferenceData`, `TestArrayDamage`
//   - Each time of an OME-Zarr image is a layer `LAYER/t0000` with its own voxels and files, and so is each index of
//     another axis. An image with one time has no such directory.
//     `TestTimes`, `TestTimesOfLayers`, `TestRecognise`
//   - Values of `float16` and of filters are those that numcodecs and zarr-python decode.
//     `TestFilteredArrays`, `TestFilters`
//   - The transformations of an OME-Zarr image have a number for each axis, or the image is not shown. Resolutions
//     may have any order: the finest one has mag 1. If a resolution has no transformations, the sizes of the
//     arrays tell its factor, and its voxel size is that of the transformations of the whole image, or unknown.
//     `TestPlaces`, `TestNumbersOfTransformations`, `TestFactorOfSizes`
//   - An OME-Zarr image with a scale of 0 on x, y or z is not shown.
//     `TestScaleOfZero`
//   - A plate is a dataset whose layers are ROW/COLUMN/FIELD; times and labels of a field lie below it. It is a
//     [volume.LayerTree]: wells and fields are read when they are needed, and some are kept. A damaged one costs only
//     itself. `TestPlates`, `TestGroupOfPlates`, `TestLargePlate`, `TestDamagedPlate`, `TestFieldsOfPlate`
//   - All images of an OME-Zarr group are layers. The second one and those after it have their own names, or
//     `image2` and so on.
//     `TestRecognise`
//   - The names of the axes tell which axis is x, y, z and channel. Axes whose names do not tell have the usual
//     order. If two of x, y and z are named, an axis without a name is the third. An array with x and z alone has
//     one voxel on y.
//     `TestAxes`
//   - Codecs of numcodecs in Zarr 3, such as `numcodecs.zlib`, decode as in Zarr 2.
//     `TestNumcodecs`
//   - A damaged chunk, inner chunk or shard index is an error for its voxels alone. `wkwfs check` finds it.
//     `TestArrayDamage`, `TestReferenceDamage`
//   - A chunk of Blosc with 1 MiB of voxels or more may have several blocks, of at least 512 KiB: the parts that
//     Blosc has encoded apart, as far as the metadata tell. A read decodes the blocks that it needs. Damage in one
//     of them is an error for the voxels of this block alone. A read of other blocks does not find it. Damage of
//     the header of the chunk is an error for all of them, and damage of the offset of a block may be one for
//     another block, too. `wkwfs check` reads all blocks.
//     `TestDamagedPart`, `TestDamagedPartOfChunk`, `TestDivided`, `TestBlocksOfBlosc`, `TestReadsPartOfChunk`,
//     `TestBloscPartErrors`
//   - A chunk of Zarr without compression, of 32 MiB or more, has several blocks of at least 16 MiB.
//     `TestDivided`, `TestAgreesWithModel`
//   - Of a chunk that goes far past the end of the volume, only what the volume has is decoded and takes memory:
//     in Precomputed on all axes, in Zarr and N5 on the slowest axis of the chunk if it is gzip, zlib, bzip2,
//     Blosc or not compressed. Damage past that is not found.
//     `TestAgreesWithModel`, `TestDivided`, `TestDivisor`, `TestMemoryOfLargeChunks`
//   - A chunk in an object store is one block, also in an archive.
//     `TestWholeChunksOfObjects`, `TestArchiveForwards`
package zarr
