// Package store opens a directory on disk as a read-only [fs.FS], and schedules the requests to any fs.FS.
//
// # Directories
//
// Paths cannot lead out of a [Dir], unless it was opened with [OpenFollowing]. Symbolic links are followed
// while they stay inside. Only regular files and directories are ever opened. Devices, FIFOs and sockets are
// refused, because an open of them could block or have an effect. Files implement [io.ReaderAt] with pread.
// They are never mapped: truncation of a mapped file would kill the process.
//
// # Late sources
//
// [Scheduled] measures how long its source takes to answer. An answer is late if it takes longer than 300 µs plus 1 ns
// for each byte read. Otherwise it is prompt. A source is late after 8 late answers in a row, or if its first answer is
// late. It is prompt again if at least half of 64 answers are prompt. A local disk is never late, even if it is slow.
//
// Scheduled has one request in flight at a time for each reader of a prompt source, because more would not be
// faster. If the source is late, it has up to [Options].Depth reads in flight, and as many lookups, and joins
// reads of neighbouring bytes.
//
// A late source is distant if its reads take longer than 3 ms, by the same rule. Then long requests take little longer
// than short ones: see [vfs.Speed]. An object store is always late, and its requests should always be long.
//
// # Decisions
//
// The kernel resolves paths in the source: openat2 refuses paths that lead out. An os.Root opens one directory
// after another, and asks a file server 11 times to open a cube.
//
// Links that cannot be followed are listed, and fail. If one were left out, it would look like an absent cube and
// read as zeros.
//
// Directories are listed in batches of 4,096 entries (vfs.List), from the store to the kernel. So a listing takes
// the same memory for any number of cubes. A batch is sorted, which keeps small directories in order.
package store
