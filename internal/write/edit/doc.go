// Package edit makes the voxels of a layer writable. What is written is kept in a directory, as a volume annotation of
// WEBKNOSSOS over the layer: WKW with a block of 32³ voxels in each file, and an NML file. The layer itself is never
// written. Package annotation reads the directory, and package overlay shows it over the layer.
//
// # How a write goes
//
// The blocks that it touches are read into memory: from the directory, or else from the layer. Bytes that differ are
// copied into them, and the write returns. A block in which nothing differs is not kept. [Voxels.Sync] encodes each
// changed block, writes it to a new file beside its place, syncs that, and renames it; then it syncs the directories. Only
// then does the block count as durable. If more memory is used than allowed, a write does the same for the oldest blocks.
//
// Blocks in memory and their copies are guarded by one lock for each mag, which is never held over I/O. A block that is in
// use is pinned, so that its memory stays. One Sync of a mag runs at a time.
//
// # What readers see
//
// [Voxels.Patch], which the files that can be written use, has each write when it has returned. The mags of the [Layer]
// show what was renamed: each block old or new. Their cubes have versions, so that a reader of the old block gets
// vfs.ErrChanged where it is gone.
//
// # Decisions
//
// Each mag is for itself, as in WEBKNOSSOS: coarser mags show what is written into them only.
//
// No journal: rename is atomic, so each block is old or new after a crash. Left temporary files are removed.
//
// Space is checked when a write changes a block for the first time: free space must suffice for all changed blocks as if
// they could not be compressed. So a full disk fails the write. Where another program takes the space later, or the file
// system has quotas, Sync fails, the block stays in memory, and the next Sync tries again.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - Reads have the bytes that were written last, and what is outside of the bounding box stays 0.
//     `TestWritesAgreeWithModel`, `TestManyWriters`
//   - When a process is killed, or power fails, each block is old or new. After Sync it is new, also if the memory is
//     too small for what is written.
//     `TestCrashPoints`
//   - The lock of the directory lets one process write.
//     `TestEditTwoMounts`
package edit
