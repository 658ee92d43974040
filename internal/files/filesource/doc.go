// Package filesource shows files of other programs as volumes: arrays in the formats of package arrayfile, and folders
// of them.
//
// A file is a layer of one mag with one cube, whose blocks are what its format reads at once: rows of a flat file,
// strips or tiles of a TIFF, whole pictures. A folder of pictures is one layer. Any other folder is a dataset, in which
// each file is a layer with the name of the file without its suffix. Axes, channels, voxel size and position are those
// that an import of the file takes, because package arrayfile decides them for both.
//
// A stream that is compressed as a whole has no random access. It is decompressed once, up to the last byte that was
// asked for, into an unnamed file in the directory for large temporary files. If there is a disk cache, a pass over a
// whole stream of DEFLATE leaves an index there, of places to start from, every 4 MiB or more. With it, a later mount
// decompresses only the parts that it reads.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - A mount of a file, or of a folder, has the voxels, the place and the voxel size of an import of it. A file that
//     is cut off or damaged is an error where bytes are missing.
//     `TestSameAsImport`, `TestSourceFiles`, `TestSourceFilesEverywhere`, `TestFolderOfDamagedFiles`, `TestAllShapes`
//   - If a file changes while it is read, the read is an error. The next open has the new voxels.
//     `TestChanged`
//   - A stream that is compressed as a whole reads in any order. A wrong checksum at its end is an error of all its
//     bytes, once it was found.
//     `TestUnpacked`, `TestWrongChecksumOfStream`
//   - With the index of an earlier pass, a read decompresses the parts that it needs. An index that is damaged, or not
//     of this stream, costs a pass, and the bytes are right. `TestRestartPoints`, `TestOtherStream`, `TestRestarts`
//   - A file of a format that is known, and not read, is refused with its name and what to do.
//     `TestForeignFormats`, `TestForeignFiles`
//   - A file without a header, and axes that a command names, are the same in a mount, cp, serve and an import.
//     `TestRawFiles`, `TestAxesOfFiles`
//   - Each time of a 4-D NIfTI and of a TIFF is a layer `t0000`. One time has no such directory.
//     `TestTIFFTimes`, `TestSourceFiles`, `TestTimesOfLayers`
package filesource
