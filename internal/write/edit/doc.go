// Package edit makes the voxels of a layer writable. What is written is kept in a directory, as a volume annotation of
// WEBKNOSSOS over the layer: WKW with a block of 32³ voxels in each file, and an NML file. The layer itself is never
// written. Package annotation reads the directory, and package overlay shows it over the layer.
//
// # How a write goes
//
// The blocks that it touches are read into memory: from the directory, or else from the layer. A block of the directory
// is not read if all of it is written. Bytes that differ are copied into them, and the write returns. A block in which
// nothing differs is not kept: so one of the layer is read, to be compared, also if all of it is written.
// [Voxels.Sync] encodes each changed block, writes it to a new file beside its place, syncs that, and renames it; then
// it syncs the directories. Only then does the block count as durable. If more memory is used than allowed, a write
// does the same for the oldest blocks.
//
// Blocks in memory and their copies are guarded by one lock for each mag, which is never held over I/O. A block that is
// in use is pinned, so that its memory stays. One Sync of a mag runs at a time.
//
// # What readers see
//
// Files that can be written read by [Voxels.Patch], which has each write that has returned. The mags of the [Layer]
// show what was renamed: each block old or new. Their cubes have versions, so that a reader of the old block gets
// vfs.ErrChanged where it is gone.
//
// # What programs can do
//
// volume.*, box/* and cubes can be written, except for files that are only headers: by pwrite, also past the page
// cache, by shared maps, and by writing all of a file anew. What is written into a header has to be what it has
// (EINVAL), and so has the size: another one is EPERM, and a write past the end EFBIG. A voxel outside of the bounding
// box can only be 0 (EINVAL). A program that opens a raw file with O_TRUNC, or sets the size to 0, is about to write
// all bytes: if it writes only a part, close fails with EINVAL, and the bytes after it are as before. Files with
// headers that are opened with O_TRUNC, and new files, are for package save. The log has the reason of each refusal.
//
// These write in place: numpy.memmap and numpy.load with mode "r+", ndarray.tofile, tifffile.memmap, fwrite, and raw
// files of ImageJ. numpy.save, nibabel.save, tifffile.imwrite and ITK write a header of their own, as package save
// allows. ITK does not say so if that is refused.
//
// All files have a write when they are opened after a close or fsync. A program that has another file open, and reads
// it through the page cache, may have old bytes until a writer closes. Programs that map different files over the same
// voxels can undo each other's bytes within a page of 4 KiB: the kernel writes whole pages.
//
// Who may write the directory may write the files. The server of root keeps no capability to write, so it takes only
// directories of root.
//
// # Decisions
//
// Each mag is for itself, as in WEBKNOSSOS: coarser mags show what is written into them only.
//
// The largestSegmentId of the NML file becomes at least the largest id in the blocks before these get their names, so
// that WEBKNOSSOS gives new segments ids that are free. After a crash it may be larger than needed.
//
// No journal: rename is atomic, so each block is old or new after a crash. Left temporary files are removed.
//
// Space is checked when a write changes a block for the first time: free space must suffice for all changed blocks as
// if they could not be compressed. So a full disk fails the write. Where another program takes the space later, or the
// file system has quotas, Sync fails, the block stays in memory, and the next Sync tries again.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - Reads have the bytes that were written last, and what is outside of the bounding box stays 0. Bytes that are as
//     before make no block. `TestWritesAgreeWithModel`, `TestManyWriters`, `TestOutside`, `TestEqualWrites`,
//     `TestEditCalls`, `TestEditPosix`
//   - A block of the directory that is damaged is mended by writing all of it at once. `TestWholeBlocks`
//   - Segmentations of every format of a dataset can be written, in all mags. What an annotation cannot have is refused
//     with the reason: images, numbers with fractions, voxels before 0,0,0.
//     `TestEditMags`, `TestCanEdit`, `TestEditRefusals`
//   - No block has an id above the largestSegmentId of the NML file, unless it had it when it was opened.
//     `TestLargestID`, `TestCrashPoints`
//   - When a process is killed, or power fails, each block is old or new. After Sync it is new.
//     `TestCrashPoints`, `TestEditKill`
//   - A disk without room fails the write with ENOSPC. If the room is taken after the write, fsync and close fail, and
//     can be repeated. Nothing that was written is lost by that while the server runs. `TestFullDisk`,
//     `TestEditFullDisk`
//   - Of the mounts with the same directory, the first one writes. The others show what is durable, some seconds later.
//     `TestEditTwoMounts`
//   - A map that is not synced is durable soon after it is removed.
//     `TestEdits`
//   - Programs that write in place can, and what they pass over in a truncated file is 0. `TestClientEdits`,
//     `TestClientEditFio`, `TestPassOver`
//   - A panic fails the write, fsync or close that meets it.
//     `TestEditPanic`
package edit
