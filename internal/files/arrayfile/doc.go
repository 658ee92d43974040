// Package arrayfile reads arrays of voxels from the files of other programs.
//
// An [Array] is a file, or a directory of files, in one of these formats: raw voxels, .npy, NRRD, MetaImage, NIfTI,
// MRC, TIFF, PNG and JPEG. Its header gives type and shape. In some formats it also gives voxel size and position. No
// header is trusted: it is checked against the size of the file before anything is allocated. A header that scales
// values is an error. One that turns or mirrors axes gives no position.
//
// Voxels come in Fortran order (x fastest) with interleaved channels, and as little-endian values, whatever the order
// of bytes in the file. A flat file is read in as few and as large pieces as possible. A compressed file is a stream,
// or has planes. The goroutine that asks for a plane decodes it.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - The planes of an OME-TIFF are the pages that its TiffData name, in any order of planes, channels and times, and
//     also in other files of its directory, whichever of them is opened. A missing file is an error that names it.
//     `TestOMEFiles`, `TestTIFFTimes`, `TestSetOfFiles`, `TestClientOMEFiles`
package arrayfile
