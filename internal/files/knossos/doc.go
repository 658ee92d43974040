// Package knossos shows datasets of KNOSSOS as volumes: images and segmentations in cubes, which are files in folders
// of their own.
//
// # Layout
//
// A cube of a mag is the file mag1/x0000/y0000/z0000/NAME_mag1_x0000_y0000_z0000.raw. Its folder may have the same cube
// of other layers. The numbers count cubes. All cubes have the full size, and x is the fastest axis. The folder of a
// mag may also be called NAME_mag1.
//
// # Configurations
//
// A configuration has the size of the dataset in voxels of mag 1, which it must name, its voxel size, and the name of
// its cubes:
//
//   - NAME.k.toml has a list of layers. Each has a folder of its own or shares one.
//   - NAME.pyk.conf is an INI file.
//   - NAME.k.conf, or knossos.conf in the dataset or in the folder of its finest mag, has lines with semicolons.
//
// The first two kinds number their mags: mag2 is whatever the second voxel size says. In the third, and where a
// .pyk.conf says so, mag2 is half as fine on all axes. If a configuration does not say how cubes are stored, a sample
// of their folders does.
//
// # Cubes
//
// Images are raw, PNG or JPEG with 8 bits, segmentations raw 64-bit integers, also in Snappy, alone or in a ZIP
// archive. A picture may have any width: its rows, one after the other, are the voxels of the cube. JPEG 2000 is not
// supported. An absent cube is zeros. A cube that is too short or too long, or cannot be decoded, is a
// [volume.FormatError].
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - Cubes of each kind have their voxels. Absent cubes are zeros. A damaged cube is an error with its file, and all
//     others read.
//     `TestCubes`, `TestDamage`, `TestSourceFiles`
//   - Cubes that are stored or named otherwise than the configuration says are never zeros: they are errors, or their
//     layer is left out with the reason.
//     `TestLayers`, `TestKNOSSOS`
//   - A dataset opens on a web server without listings.
//     `TestKNOSSOSByHTTP`
package knossos
