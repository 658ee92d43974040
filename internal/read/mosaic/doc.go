// Package mosaic presents the cubes of a mag, which lie side by side, as one source of blocks.
//
// A [Mosaic] shows a snapshot: the versions of all cubes at one moment. A snapshot knows the cache key of every block
// without opening a file. In a mag of more than 20,000 cubes, it does so after the first read of a cube, which opens
// the cube to learn its version. Cubes are opened when a block must be decoded, and stay open for a while.
//
// Surveys detect changes of the source. A survey lists all cubes of the mag, many directories at a time. It is valid
// for one second, or longer if it takes long. For files of few cubes, these cubes are checked instead, unless the
// source answers late.
//
// A reader waits while its cube is opened, and while the survey that it needs is taken. It waits for nothing else.
//
// # Decisions
//
// A volume has the access of its least readable cube: the daemon may be root, and the kernel checks only the
// file that is opened.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - If a mag has too many cubes for a snapshot, a file made of the whole mag has each cube as it was when the cube
//     was first needed, not when the file was opened. If the bounding box is found from the cubes, boxes may be cut at
//     the bounding box of a second ago. `TestSnapshotOfMany`
package mosaic
