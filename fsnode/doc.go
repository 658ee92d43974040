// Package fsnode serves a read-only [fs.FS] over FUSE. It is the only place that
// knows error numbers and kernel flags, and knows nothing of voxels.
//
// # Identity
//
// The inode number of an entry is a hash of its path, so it is the same after a
// remount. The generation is the version of the file's content ([vfs.VersionOf]):
// when what lies below a file changes, the name leads to a new node with a page
// cache of its own, and the old node, with its pages and its open handles, stays
// what it was. Nothing is ever invalidated and old and new bytes cannot meet in one
// page cache. The kernel may keep believing a name for a second; Open compares
// versions and answers ESTALE, on which the kernel looks the name up again and
// opens what it finds. So a change is seen at the next open, at once.
//
// # Reading
//
// A READ is answered whole or with an error, because the kernel fills what a short
// answer leaves with zeros. Bytes go from the file straight into the buffer that is
// written to the kernel.
//
// Files that are live ([vfs.LiveInfo]) are read past the page cache. What is seen of
// them is what they were when they were opened.
//
// The daemon must never touch its own mount: a request that waits for itself is a
// deadlock. Nothing here does after the mount is up.
package fsnode
