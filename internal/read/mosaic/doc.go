// Package mosaic presents the cubes of a mag, which lie side by side, as one source of blocks.
//
// A [Mosaic] shows a snapshot: the version of each cube that belongs together. A snapshot knows the cache key of every
// block without opening a file. Only in a mag of more than 20,000 cubes, the first read of a cube opens it to learn its
// version. Cubes are opened when a block must be decoded, and stay open for a while.
//
// Surveys detect changes of the source. A survey lists all cubes of the mag, many directories at a time. It is valid for
// one second, or longer if it takes long. For files of few cubes, these cubes are checked instead, unless the source
// answers late.
//
// A reader waits while its cube is opened, and while the survey that it needs is taken. It waits for nothing else.
//
// # Decisions
//
// A volume has the access of its least readable cube: the daemon may be root, and the kernel checks only the
// file that is opened.
package mosaic
