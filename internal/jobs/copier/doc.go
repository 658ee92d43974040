// Package copier copies files of an fs.FS to disk. It copies large files by several ranges at once and many small files
// at once. A copy that was interrupted resumes where it stopped.
//
// # Files on disk
//
// A file is written as NAME.part. When it is complete, it gets its name, and the modification time and permissions of
// the source. The part of a file of more than one range has a journal, NAME.part.json, with the version and size of the
// source and the number of ranges that are written. A later copy resumes the part if the version is the same, else it
// starts over. Ranges are synced to disk before the journal counts them. If the process is killed, the ranges after the
// last entry of the journal are copied again.
//
// An existing file with the size, modification time and header of the source is kept. Holes of the source
// (vfs.HoleSeeker) become holes.
//
// # Order
//
// The ranges of a file are claimed in rising order, as many at once as there are jobs. The next file starts when all
// ranges of the file are claimed. A range is claimed only within a window of twice the number of jobs, which starts at
// the first range that is not done. So the ranges in flight are neighbours. In a flat array they consist of the same
// blocks, which a cache then decodes once.
//
// # Concurrency and memory
//
// Each job is a goroutine with a buffer of 4 MiB. While the source answers late, more goroutines, the helpers, copy as
// well. Their buffers have 64 MiB in total: enough for many small files or for some ranges. Copy waits for all
// goroutines. A part is locked (flock), so that two copies to the same target do not mix.
// On a file system without locks, the copy locks its whole target by a file.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - Two `wkwfs cp` to the same targets at the same time do not mix. A file that one of them has written is not
//     replaced by the other without `--force`: that one keeps it if it is the same, and fails if it differs or is
//     being written. On file systems without locks, one `wkwfs cp` at a time writes into a directory: its lock is
//     `.wkwfs-cp.lock` there.
//     `TestCopiesAtTheSameTime`, `TestTargetAppears`, `TestNote`, `TestWritersWithoutLocks`
//   - A part of a copy may run several times at a time, on one machine or on several. Files get their names when
//     they are complete. When a part has copied all of its files, no other file of it is left, on any machine.
//     `TestPartsAtTheSameTime`, `TestPartWaitsForItself`, `TestPartOnAnotherMachine`
package copier
